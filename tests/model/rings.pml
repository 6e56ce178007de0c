/* SPDX-License-Identifier: Apache-2.0
 *
 * One direction of two processes of a host (transport/same_host), for Spin: a ring of four octets, its two flags, and
 * both doorbells. The writer writes some octets, as many at a time as it likes, and ends. The reader reads as many at
 * a time as it likes, up to the end. Each sleeps when there is nothing to do, and only then. Whatever the order, both
 * come to their ends: otherwise a wake-up was lost.
 *
 * Stores are not visible at once: each end has a buffer of stores, which empties itself at any moment in order, and at a
 * fence. That is what x86-64 does, and what the fences are for: without a fence, a load may come before the stores
 * before it. An exchange empties the buffer as well. What an end knows of the other is what it last loaded. A doorbell is
 * the kernel's: the octet is there once it was sent, and with it all stores before it. A process has one doorbell for both
 * directions; a look at each follows whenever it is drained, so one direction at a time shows all. The names are those
 * of the functions. FAULT_... takes out one step that the argument needs: model.py checks that each is noticed.
 */

#define SIZE 4    /* octets of the ring */
#define QUARTER 2 /* room that is worth a bell */
#ifndef OCTETS
#define OCTETS 9
#endif
#define STORES 3 /* in a buffer at most */

mtype = { kWritten, kRead, kSleeps, kWaits };

/* --- The shared page, and the stores on the way to it */
byte written, read;
bool sleeps, waits, end_written;

/* One buffer per end: which word, and the value. The end of the stream is a bit of `written`: 128 here. */
chan to_writer = [STORES] of { mtype, byte };
chan to_reader = [STORES] of { mtype, byte };

byte bell_of_reader, bell_of_writer; /* octets in the doorbells */

inline apply(word, value) {
  if
  :: word == kWritten -> written = value & 127; end_written = (value >= 128)
  :: word == kRead -> read = value
  :: word == kSleeps -> sleeps = value
  :: word == kWaits -> waits = value
  fi
}

inline drain_stores(buffer, word, value) {
  do
  :: buffer ? [word, value] -> buffer ? word, value; apply(word, value)
  :: empty(buffer) -> break
  od;
  word = 0;
  value = 0
}

/* An exchange of a flag with 0, and the bell if it was set. Its fence is that of the instruction. The bell is a step of
 * its own: the end may be interrupted between both. */
inline take_and_ring(flag, buffer, word, value, taken, bell) {
  if
  :: flag ->
     atomic { drain_stores(buffer, word, value); taken = flag; flag = false };
     if
     :: taken -> atomic { taken = false; bell++ }
     :: else
     fi
  :: else
  fi
}

/* The memory: a store becomes visible. */
active proctype Stores() {
  mtype word;
  byte value;
end:
  do
  :: atomic { nempty(to_writer) -> to_writer ? word, value; apply(word, value); word = 0; value = 0 }
  :: atomic { nempty(to_reader) -> to_reader ? word, value; apply(word, value); word = 0; value = 0 }
  od
}

/* RingWriter, with Session::write and Session::sleep around it. */
active proctype WritingProcess() {
  byte own, seen, value; /* RingWriter's positions */
  mtype word;
  bool taken, waiting, stuck;
  do
  :: own < OCTETS ->
     /* RingWriter::write: some octets, with what room there was at the last look. */
     stuck = false;
     if
     :: own - seen < SIZE -> own++
     :: own - seen < SIZE - 1 && own + 1 < OCTETS -> own = own + 2
     :: own - seen == SIZE ->
        seen = read; /* RingWriter::make_room: a look */
        if
        :: own - seen == SIZE ->
#ifndef FAULT_DOES_NOT_SAY_THAT_IT_WAITS
           waiting = true;
           to_writer ! kWaits, 1;
#endif
#ifndef FAULT_NO_FENCE_BEHIND_WAITS
           atomic { drain_stores(to_writer, word, value) };
#endif
#ifndef FAULT_WAITS_WITHOUT_A_SECOND_LOOK
           seen = read;
#endif
           stuck = (own - seen == SIZE)
        :: else
        fi
     fi;
     if
     :: waiting && !stuck -> waiting = false; to_writer ! kWaits, 0
     :: else
     fi;
     if
     :: !stuck ->
        to_writer ! kWritten, own; /* RingWriter::publish */
#ifndef FAULT_NO_FENCE_BEHIND_WRITTEN
        atomic { drain_stores(to_writer, word, value) };
#endif
        take_and_ring(sleeps, to_writer, word, value, taken, bell_of_reader)
     :: else ->
        /* Session::sleep of the writer: drained first, then RingWriter::room_was_made. */
        bell_of_writer = 0;
#ifndef FAULT_A_DRAINED_BELL_FOR_ROOM_IS_FORGOTTEN
        if
        :: waiting && !waits && empty(to_writer) -> waiting = false
        :: else -> atomic { bell_of_writer > 0 -> waiting = waiting }
        fi
#else
        atomic { bell_of_writer > 0 -> waiting = waiting }
#endif
     fi
  :: else -> break
  od;
  to_writer ! kWritten, own + 128; /* RingWriter::end */
  atomic { drain_stores(to_writer, word, value) };
  take_and_ring(sleeps, to_writer, word, value, taken, bell_of_reader)
}

/* RingReader, with Session::read and Session::sleep around it. */
active proctype ReadingProcess() {
  byte own, seen, value; /* RingReader's positions */
  mtype word;
  bool taken, ended, announced;
  do
  :: own != seen || !ended ->
     if
     :: own == seen -> atomic { seen = written; ended = end_written } /* RingReader::look: one load */
     :: else
     fi;
     if
     :: own != seen ->
        /* RingReader::read: some of the octets. */
        if
        :: own++
        :: own = seen
        fi;
        to_reader ! kRead, own;
#ifndef FAULT_NO_FENCE_BEHIND_READ
        atomic { drain_stores(to_reader, word, value) };
#endif
        if
        :: SIZE - (seen - own) >= QUARTER -> take_and_ring(waits, to_reader, word, value, taken, bell_of_writer)
        :: else
        fi
     :: own == seen && !ended ->
        /* Session::sleep */
#ifndef FAULT_DRAINS_BEHIND_THE_ANNOUNCEMENT
        bell_of_reader = 0; /* Session::drain */
#endif
        announced = true;
        to_reader ! kSleeps, 1; /* RingReader::announce_sleep */
#ifndef FAULT_NO_FENCE_BEHIND_SLEEPS
        atomic { drain_stores(to_reader, word, value) };
#endif
#ifdef FAULT_DRAINS_BEHIND_THE_ANNOUNCEMENT
        bell_of_reader = 0;
#endif
#ifndef FAULT_SLEEPS_WITHOUT_A_LOOK
        atomic { seen = written; ended = end_written }; /* Session::has_news */
#endif
        if
        :: own == seen && !ended -> atomic { bell_of_reader > 0 -> announced = announced }
        :: else
        fi;
        announced = false;
        to_reader ! kSleeps, 0 /* RingReader::withdraw_sleep */
     :: else
     fi
  :: else -> break
  od;
  assert(own == OCTETS)
}
