// SPDX-License-Identifier: Apache-2.0
// A run of the engine: which pieces have been fed, how far, and what it answered. Knows nothing of the page. When a piece changes that
// the engine has had already, the run begins again and stops in front of it.

class RunControl {
  constructor({laboratory, script, pieces, crc, markers}) {
    Object.assign(this, {laboratory, script, pieces, crc, markers, repair: true});
    this.begins = pieces.find((piece) => piece.kind === "fpdu")?.place ?? 0; // of the FPDUs, in the captured stream
    this.begin_again();
  }

  begin_again() {
    this.run?.free?.();
    this.run = this.laboratory.start(this.script);
    // answers: {words, step} where something happened; place: of the next FPDU in what is fed
    Object.assign(this, {answers: [], last: undefined, next: 0, ended: false, place: 0});
    if (this.run.first?.out?.length) this.take(() => this.run.first, "The engine begins");
    for (const piece of this.pieces) piece.fed = 0;
    this.skip_dropped();
  }

  skip_dropped() {
    while (this.pieces[this.next]?.dropped) ++this.next;
  }

  get closed() {
    return this.ended || this.last?.state === "closed";
  }
  get over() {
    return this.closed || this.last?.state === "terminating";
  }
  get at_end() {
    return this.next >= this.pieces.length;
  }

  octets_of_piece(piece) {
    return this.repair && this.crc ? repaired(piece, this.laboratory.crc32c) : piece.octets;
  }

  // The same, where it stands now: in another place of the stream, an FPDU has its Markers elsewhere.
  octets_to_feed(piece) {
    const octets = this.octets_of_piece(piece);
    const moved = (this.place - (piece.place - this.begins)) % kMarkerDistance !== 0;
    if (!this.repair || !this.markers || piece.kind !== "fpdu" || !moved) return octets;
    const marked = with_markers(octets, piece.markers, this.place);
    return this.crc ? with_crc(marked, this.laboratory.crc32c) : marked;
  }

  // All that is left of the next piece, or `most` octets of it.
  feed(most = Infinity) {
    const piece = this.pieces[this.next];
    if (!piece || this.over) return;
    const first = piece.fed;
    const whole = this.octets_to_feed(piece);
    const octets = whole.slice(first, Math.min(whole.length, first + most));
    piece.total = whole.length;
    piece.fed += octets.length;
    this.take(() => this.run.feed(octets, piece.row), fed_words(piece, first, octets.length));
    if (piece.fed < whole.length) return;
    if (piece.kind === "fpdu") this.place += whole.length;
    ++this.next;
    this.skip_dropped();
  }

  feed_up_to(index) {
    while (this.next <= index && !this.at_end && !this.over) this.feed();
  }

  end() {
    if (this.closed) return;
    this.take(() => this.run.end(), "End of the stream (FIN)");
    this.ended = true;
  }

  // Of the engine's time, up to its next time-out.
  wait() {
    this.take(() => this.run.wait(), "Time passes");
  }
  post_receive(octets) {
    this.take(() => this.run.receive(octets), `A receive of ${octets} octets is posted`);
  }

  take(ask, words) {
    const step = answer_of(ask);
    this.last = step;
    if (step.error || step.refused || ["events", "in", "placed", "out"].some((list) => step[list]?.length))
      this.answers.push({words, step});
  }

  had(index, octet = 0) {
    return index < this.next || (index === this.next && (this.pieces[index]?.fed ?? 0) > octet);
  }

  settle(index, had) {
    if (!had) return this.skip_dropped();
    this.begin_again();
    this.feed_up_to(index - 1);
  }

  write(index, at, octet) {
    const had = this.had(index, at);
    this.pieces[index].octets[at] = octet;
    this.settle(index, had);
  }

  drop(index) {
    const had = this.had(index);
    this.pieces[index].dropped = !this.pieces[index].dropped;
    this.settle(index, had);
  }

  duplicate(index) {
    const had = this.had(index + 1);
    this.pieces.splice(index + 1, 0, this.pieces[index].again());
    this.settle(index + 1, had);
  }

  // Changes places with its neighbour; the index that it has then.
  move(index, step) {
    const to = clamp(index + step, 0, this.pieces.length - 1);
    const had = this.had(Math.min(index, to));
    this.pieces[index].moved = true;
    this.pieces.splice(to, 0, ...this.pieces.splice(index, 1));
    this.settle(Math.min(index, to), had);
    return to;
  }

  set_repair(repair) {
    this.repair = repair;
    const first = this.pieces.findIndex((piece) => piece.edited || piece.dropped || piece.copy || piece.moved);
    if (first >= 0) this.settle(first, this.had(first));
  }
}

// An engine that fails says so in the words of its error, and the run is over.
function answer_of(ask) {
  try {
    return ask();
  } catch (fault) {
    return {state: "closed", waiting: "", refused: fault.message};
  }
}

function fed_words({words, total}, first, fed) {
  if (fed === total) return words;
  return fed === 1 ? `${words}, octet ${first}` : `${words}, octets ${first} to ${first + fed - 1}`;
}
