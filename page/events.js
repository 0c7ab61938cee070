// An event that has to wait for an answer to the one before is sent by Gradio with the data of the first that waited:
// each name has one object for all its events, which then holds the last.
const asked = {};
const ask = (name, data) => trigger(name, Object.assign((asked[name] ??= {}), data));
