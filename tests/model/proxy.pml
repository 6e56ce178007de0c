/* SPDX-License-Identifier: Apache-2.0
 *
 * A proxy: a thread that waits for connection events and meanwhile serves the sockets of the progress thread (Proxy,
 * ProgressThreads, relief and EventChannelState), for Spin: rows 10 and 11 of docs/progress.md. Two threads come for
 * events and go at any moment: one at a time is the proxy, the other sleeps on the descriptor. The tick decides who
 * serves. Octets of a set-up, a message of an established connection and a connection at a listener arrive at any
 * moment. Whatever the order, the model ends. Then nothing that arrived is unserved, and each event that nobody has
 * taken has its token.
 *
 * A step is an access to what threads share. readiness.pml has how the thread is told to rest and to go on, which is
 * one step here, and tokens.pml has more of the tokens. FAULT_... takes out one step that the argument needs:
 * model.py checks that each is noticed. In event_taker.pmh: FAULT_HOLDS_BACK_WITHOUT_THE_LOCK.
 */

#ifndef CALLS
#define CALLS 1
#endif
#ifndef ARRIVALS
#define ARRIVALS 1
#endif

#include "event_taker.pmh"

bool came; /* Presence of the proxy, under the lock of EventTaker */

bool setup, message; /* octets in sockets: level-triggered */
bool knocks, edge;   /* a connection at a listener: to be accepted, and to be reported by EPOLLET */

bool rests;    /* the progress thread: ReadinessThread::rest and ReadinessThread::resume */
bool serving;  /* Serving::mutex is taken */
bool proxy, messages; /* ProgressThreads */
byte sleepers;

bool watched_proxy, armed, alarm; /* Tick, under its lock */

#define READY (setup || message || edge)
#define PROXY_SERVES(by) (by && !news && sleepers == 0) /* relief(): with one progress thread */

/* The sockets that are ready. A set-up and a listener's connection lead to an event. */
inline serve(may_serve) {
  if
  :: got_edge -> got_edge = false; knocks = false; announce()
  :: else
  fi;
  if
  :: got_setup && (may_serve) ->
     atomic { got_setup = setup; setup = false }
     if
     :: got_setup -> announce()
     :: else
     fi
  :: else
  fi;
  got_setup = false;
  if
  :: got_message && (may_serve) -> atomic { messages = messages || message; message = false }
  :: else
  fi;
  got_message = false
}

/* Tick::watch */
inline watch(driver_watched) {
  atomic {
    driver_watched = true;
    if
    :: !armed -> armed = true; alarm = true
    :: else
    fi
  }
}

/* ProgressThreads::proxy_leaves, with the lock of EventTaker held: Proxy::leave. */
inline leave() {
  if
  :: here ->
     here = false;
     proxy = false;
     rests = false
  :: else
  fi
}

active proctype ProgressThread() {
  bool got_setup, got_message, got_edge, first;
end:
  do
  :: atomic {
       !rests && READY -> got_setup = setup; got_message = message; got_edge = edge; edge = false
     };
     atomic { !serving -> serving = true };
     serve(!rests);
     serving = false
  od
}

/* EventChannelState::get_event */
active [2] proctype AppThread() {
  byte calls = CALLS;
  bool got, first, serves, served, news, got_setup, got_message, got_edge;
  do
  :: calls > 0 ->
     calls--;
     take_now();
     if
     :: got -> atomic { !locked -> came = true } /* Proxy::come_by */
     :: else ->
        LOCK; /* Proxy::begin */
        if
        :: waiting -> serves = false
        :: !waiting && here -> serves = true
        :: !waiting && !here -> /* a row is long enough: ProgressThreads::proxy_comes */
           atomic { news = messages; messages = false }
           if
           :: PROXY_SERVES(true) ->
              atomic { serves = !proxy; proxy = true }
              if
              :: serves -> rests = true; here = true; came = true
              :: else
              fi
           :: else
           fi
        :: !waiting && !here -> serves = false /* or is not */
        fi;
        if
        :: serves ->
           waiting = true;
           if
#ifndef FAULT_A_PROXY_IS_NOT_WATCHED
           :: !ticking -> ticking = true; watch(watched_proxy)
#endif
           :: else
           fi
        :: else
        fi;
        locked = false;
        if
        :: serves ->
           do /* Proxy::serve_until */
           :: driving = _pid; /* Proxy::serve_one, and ReadinessThread::serve_one */
              atomic { !serving -> serving = true };
              atomic {
                if
                :: setup -> got_setup = true; served = true
                :: message -> got_message = true; served = true
                :: edge -> got_edge = true; edge = false; served = true
                :: else
                fi
              }
              serve(true);
              serving = false;
              driving = NOBODY;
              take_now();
              if
              :: got -> break
              :: else
              fi;
              if
              :: served
              :: !served && (READY || tokens > 0) /* Proxy::sleeps_until */
              :: break /* `until` */
              :: got = true; break /* a signal: it returns without an event */
              :: LOCK; leave(); locked = false; break /* tuning::kQuiet */
              fi;
              served = false
           od;
           served = false;
           atomic { !locked -> waiting = false; came = true } /* Proxy::end */
        :: else
        fi;
        if
        :: got
        :: else -> /* Proxy::Sleep, with ProgressThreads::falls_asleep */
           sleepers++;
           if
           :: proxy -> rests = false
           :: else
           fi;
           sleep_and_take();
           sleepers-- /* ProgressThreads::wakes_up */
        fi
     fi;
     got = false;
     serves = false
  :: break
  od
}

/* Tick::alarm: each driver that is watched is asked, and ProgressThreads::on_tick selects who serves. */
active proctype TimerThread() {
  bool first, stays, by, news;
end:
  do
  :: atomic { alarm -> alarm = false };
     if
     :: atomic { watched_proxy -> watched_proxy = false };
        LOCK; /* Proxy::is_over */
        if
        :: waiting -> stays = true
        :: else ->
#ifndef FAULT_THE_TICK_SHOWS_NOTHING
           show_held_back();
#endif
           if
           :: came && here -> stays = true
           :: else -> leave(); ticking = false
           fi;
           came = false
        fi;
        locked = false;
        if
        :: stays -> watched_proxy = true; stays = false
        :: else
        fi
     :: else
     fi;
     by = proxy; /* ProgressThreads::on_tick */
     atomic { news = messages; messages = false }
     if
     :: PROXY_SERVES(by) -> rests = true
     :: else
#ifndef FAULT_THE_TICK_DOES_NOT_RESUME
        -> rests = false
#endif
     fi;
     by = false;
     news = false;
     atomic {
       if
       :: watched_proxy -> armed = true; alarm = true
       :: else -> armed = false
       fi
     }
  od
}

active proctype World() {
  byte left = ARRIVALS;
end:
  do
  :: atomic { left > 0 -> setup = true; left-- }
  :: atomic { left > 0 -> message = true; left-- }
  :: atomic { left > 0 -> knocks = true; edge = true; left-- }
  :: atomic { left > 0 -> left-- }
  od
}

/* Nothing can happen any more. */
active proctype Judge() {
end:
  timeout -> assert(!setup && !message && !knocks && EVERY_EVENT_IS_TOLD)
}
