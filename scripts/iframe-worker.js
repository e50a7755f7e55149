// Browsers start no workers from file://. There, the search of the site runs in a hidden frame instead.
// Only what the search of mkdocs-material uses of a worker: messages both ways, and importScripts.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      // The frame shares our origin as it has no address of its own.
      inside.postMessageToPage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.document.open();
      inside.document.write(`<!doctype html><body><script>
        const deliver = window.postMessage.bind(window);
        window.postMessage = (data) => postMessageToPage(data);
        window.deliver = deliver;
        window.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((loaded) => {
          const script = document.createElement("script");
          script.src = url;
          script.onload = loaded;
          document.body.append(script);
        })), Promise.resolve());
      <\/script><script src="${url}"><\/script></body>`);
      inside.document.close();
      this.ready = new Promise((loaded) => { inside.addEventListener("load", loaded); });
    }

    postMessage(data) {
      const inside = this.frame.contentWindow;
      this.ready.then(() => inside.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
