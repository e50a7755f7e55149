// The parts of Vega that our charts use, without maps, trees, forces and word clouds. `live.js` of floatgate/pages calls them.
import {transforms} from 'vega-dataflow';
import * as data from 'vega-transforms';
import * as view from 'vega-view-transforms';
import * as encode from 'vega-encode';
import {View} from 'vega-view';
import {parse} from 'vega-parser';
import {compile} from 'vega-lite';
import {Handler} from 'vega-tooltip';
import {loader} from 'vega-loader';

Object.assign(transforms, data, view, encode);
// Charts bring their data along: a page fetches nothing.
const none = loader();
none.load = none.sanitize = () => Promise.reject(new Error('pages fetch nothing'));

globalThis.chartRuntime = {View, parse, compile, Handler, loader: none};
