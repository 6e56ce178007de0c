/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams that wait for a receive (ReceiveQueue, and Stream with SocketWatch), for Spin: rows 16 and 17 of
 * docs/progress.md. Two streams share a receive queue. Sends and a FIN arrive at any moment, two threads post
 * receives, the progress thread drives, a poller takes a socket and leaves, and one stream may end. Whatever the
 * order, the model ends. Then no stream waits although there is a receive, no octets are left in the socket of a
 * stream that reads, and the FIN of a peer was seen behind a Send that waits.
 *
 * A step is an access to what threads share. Under a stream's lock it is one step up to the next access to the
 * receive queue. FAULT_... takes out one step that the argument needs: model.py checks that each is noticed.
 */

#define STREAMS 2
#ifndef ARRIVALS
#define ARRIVALS 2
#endif

/* --- A stream, under its lock */
bool locked[STREAMS];
byte sends[STREAMS]; /* in the socket */
bool fin[STREAMS];   /* behind them */
bool stalled[STREAMS], fin_waits[STREAMS], over[STREAMS]; /* Inbox */
bool finished[STREAMS];
bool polled[STREAMS]; /* its owner is the poller, and not the progress thread */

/* --- The progress thread's set: SocketWatch */
bool watches_read[STREAMS] = true, watches_end[STREAMS];
bool end_told[STREAMS]; /* to be reported by EPOLLONESHOT, once there is a FIN */
#ifdef FAULT_A_CHANGE_IS_NOT_REPORTED_ANEW
bool asked[STREAMS];
#endif

/* --- ReceiveQueue, under its lock */
byte posted;
bool waiting[STREAMS]; /* ReceiveWaiter */
chan waiters = [STREAMS] of { byte };

/* SocketWatch::settle, for the progress thread: what Stream::wanted says, or only the end. A change is reported
 * anew. */
inline settle(s) {
  atomic {
    wants_read = !finished[s] && !polled[s] && !stalled[s] && !over[s];
#ifndef FAULT_A_POLLER_S_STREAM_IS_NOT_WATCHED
    wants_end = !finished[s] && stalled[s] && !fin_waits[s] && !over[s];
#else
    wants_end = !finished[s] && !polled[s] && stalled[s] && !fin_waits[s] && !over[s];
#endif
    if
    :: watches_read[s] != wants_read || watches_end[s] != wants_end ->
#ifndef FAULT_A_CHANGE_IS_NOT_REPORTED_ANEW
       end_told[s] = wants_end;
#else
       end_told[s] = wants_end && (end_told[s] || !asked[s]);
       asked[s] = asked[s] || wants_end;
#endif
       watches_read[s] = wants_read;
       watches_end[s] = wants_end
    :: else
    fi
  }
}

#ifndef FAULT_A_POST_FALLS_BETWEEN
#define ONE_STEP atomic
#else
#define ONE_STEP
#endif

/* ReceiveQueue::take. Without a receive the stream is told once when there is one. */
inline take(s) {
  ONE_STEP {
    atomic {
      if
      :: posted > 0 -> posted--; stalled[s] = false
      :: else -> stalled[s] = true
      fi
    }
    atomic {
      if
      :: stalled[s] && !waiting[s] -> waiting[s] = true; waiters!s
      :: else
      fi
    }
  }
}

bool leaves; /* the poller */

/* LinkIo::receive */
inline receive(s) {
  do
  :: ONE_STEP { !stalled[s] && !over[s] && sends[s] > 0 -> sends[s]--; take(s) }
  :: atomic { !stalled[s] && !over[s] && sends[s] == 0 && fin[s] -> over[s] = true }
  :: stalled[s] || over[s] || (sends[s] == 0 && !fin[s]) -> break
  :: !stalled[s] && !over[s] && sends[s] > 0 -> break /* the turn is over */
  od
}

/* Stream::drive, with Stream::look_for_the_end, and with the lock held. */
inline drive(s, hangup) {
  if
  :: !finished[s] ->
     receive(s);
     settle(s);
     if
     :: hangup && stalled[s] && fin[s] -> fin_waits[s] = true; settle(s)
     :: else
     fi
  :: else
  fi
}

inline lock(s) { atomic { !locked[s] -> locked[s] = true } }

#define READABLE(s) (watches_read[s] && (sends[s] > 0 || fin[s]))
#define ENDS(s) (end_told[s] && fin[s])

active proctype ProgressThread() {
  byte s;
  bool hangup, wants_read, wants_end;
end:
  do
  :: atomic { READABLE(0) -> s = 0 }; lock(s); drive(s, false); locked[s] = false
  :: atomic { READABLE(1) -> s = 1 }; lock(s); drive(s, false); locked[s] = false
  :: atomic { ENDS(0) -> end_told[0] = false; s = 0 }; lock(s); drive(s, true); locked[s] = false
  :: atomic { ENDS(1) -> end_told[1] = false; s = 1 }; lock(s); drive(s, true); locked[s] = false
  od
}

/* Stream::drive_if_free, by a poller that becomes the owner. It stays, or leaves: Stream::is_over. */
active proctype Poller() {
  bool wants_read, wants_end;
  if
  :: atomic { !locked[0] -> locked[0] = true };
     polled[0] = true;
     settle(0);
     drive(0, false);
     locked[0] = false;
end: do
     :: atomic { !stalled[0] && !over[0] && (sends[0] > 0 || fin[0]) && !locked[0] -> locked[0] = true };
        drive(0, false);
        locked[0] = false
     :: atomic { leaves -> leaves = false };
        lock(0);
        polled[0] = false;
        settle(0);
        locked[0] = false;
        break
     od
  :: true
  fi
}

/* ReceiveQueue::post of one or two receives, with ReceiveQueue::next_to_wake and Stream::receives_available. */
active [2] proctype PostingThread() {
  byte s;
  bool wants_read, wants_end, owes;
  atomic {
    if
    :: true
    :: posted++
    :: posted = posted + 2
    fi;
    owes = len(waiters) > 0 && posted > 0
  }
  do
  :: owes ->
     atomic {
       if
       :: len(waiters) > 0 && posted > 0 ->
          waiters?s;
#ifndef FAULT_A_WAITER_STAYS_MARKED
          waiting[s] = false
#endif
       :: else -> owes = false
       fi
     }
     if
     :: owes ->
        lock(s);
        if
        :: !finished[s] ->
           if
           :: stalled[s] -> take(s) /* Link::stop_waiting shows the Send again. */
           :: else
           fi;
           drive(s, false)
        :: else
        fi;
        locked[s] = false
#ifdef FAULT_A_POST_WAKES_ONE
        ; owes = false
#endif
     :: else
     fi
  :: !owes -> break
  od
}

/* The peers, a poller that leaves, and a stream that ends, perhaps while a post wakes it: ReceiveQueue::forget. */
active proctype World() {
  byte left = ARRIVALS;
end:
  do
  :: atomic { left > 0 && !fin[0] -> sends[0]++; left-- }
  :: atomic { left > 0 -> sends[1]++; left-- }
  :: atomic { left > 0 -> leaves = true; left-- }
  :: atomic {
       left > 0 && !locked[1] && !finished[1] -> left--;
       finished[1] = true;
       watches_read[1] = false;
       watches_end[1] = false;
       if
       :: waiting[1] -> waiting[1] = false; waiters??1
       :: else
       fi
     }
  :: atomic { !fin[0] -> fin[0] = true }
  :: atomic { left > 0 -> left-- }
  od
}

#define SERVED(s) \
  (finished[s] || (stalled[s] && posted == 0 && (!fin[s] || fin_waits[s])) || \
   (!stalled[s] && (over[s] || (sends[s] == 0 && !fin[s]))))

/* Nothing can happen any more. */
active proctype Judge() {
end:
  timeout -> assert(SERVED(0) && SERVED(1))
}
