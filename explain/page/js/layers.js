// SPDX-License-Identifier: Apache-2.0
// The layers, outermost first: each is a box in the one before it.

const kLayers = {
  ethernet: {depth: 0, name: "Ethernet", words: "takes the frame to the next machine"},
  ip: {depth: 1, name: "IP", words: "takes the packet to the host"},
  tcp: {depth: 2, name: "TCP", words: "makes a stream of octets of packets: in order, without gaps, and without any boundaries"},
  mpa: {
    depth: 3,
    name: "MPA",
    words: "puts boundaries into TCP's stream, so that each FPDU can be found, and checks it with a CRC",
  },
  ddp: {depth: 4, name: "DDP", words: "says where the payload belongs in the receiver's memory"},
  rdmap: {depth: 5, name: "RDMAP", words: "says which operation this is a part of"},
  ulp: {depth: 6, name: "Payload", words: "belongs to the application; no layer of iWARP looks at it"},
};

const layer_name = (layer) => kLayers[layer]?.name ?? layer;

// What stands on a box of a lower layer while it is folded.
function lower_words(fields, layer) {
  const value = (name) => fields.find((field) => field.layer === layer && field.name.toLowerCase().startsWith(name))?.value;
  const pair = [value("source"), value("destination")];
  return pair.every(Boolean) ? `${pair[0]} → ${pair[1]}` : "";
}
