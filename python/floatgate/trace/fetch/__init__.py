"""Public traces in the user's cache: recipes as data, downloads that go on where they were cut, archives taken apart.

Floatgate ships none of these traces. A recipe says where the owner has them and under which terms. The first fetch pins
the checksum of a file whose owner publishes none.
"""
