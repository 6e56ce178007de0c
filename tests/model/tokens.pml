/* SPDX-License-Identifier: Apache-2.0
 *
 * The events of a completion channel, with or without a token in its descriptor (ChannelState, Waiter, EventTaker and
 * NotificationQueue), for Spin: row 9 of docs/progress.md. Two threads come for events and go at any moment: one at a
 * time drives, the other sleeps on the descriptor. Events are raised by the thread that drives, by a thread that is
 * away, and by another thread. Whatever the order, the model ends. Then each event that nobody has taken has its
 * token, so no thread sleeps at the descriptor beside one.
 *
 * A step is an access to what threads share. FAULT_... takes out one step that the argument needs: model.py checks
 * that each is noticed. In event_taker.pmh: FAULT_A_SECOND_EVENT_IS_HELD_BACK, FAULT_HOLDS_BACK_WITHOUT_THE_LOCK and
 * FAULT_HOLDS_BACK_BESIDE_A_WAITER.
 */

#ifndef CALLS
#define CALLS 2
#endif
#ifndef EVENTS
#define EVENTS 3
#endif
#define LONG_WAIT 2 /* tuning::kLongWait, of 10 ticks */

#include "event_taker.pmh"

bool fresh; /* Waiter, under the lock of EventTaker */
byte quiet;

bool watched, armed, alarm; /* Tick, under its lock */
byte left = EVENTS;         /* to be raised */

/* ChannelState::get_event */
active [2] proctype AppThread() {
  byte calls = CALLS;
  bool got, first, serves;
  do
  :: calls > 0 ->
     calls--;
     if /* It posts a Send that is complete at once. */
     :: atomic { left > 0 -> left-- }; announce()
     :: true
     fi;
     take_now();
     if
     :: got
     :: else ->
        atomic { /* Waiter::begin */
          !locked;
          serves = !waiting;
          if
          :: serves -> here = true; waiting = true; fresh = true
          :: else
          fi
        }
        if
        :: serves ->
#ifndef FAULT_A_WAITER_DOES_NOT_LOOK_FIRST
           take_now();
#endif
           do /* Waiter::drive_until */
           :: got -> break
           :: else ->
end_waits:
              if
              :: atomic { left > 0 -> left--; driving = _pid };
                 announce();
                 if
                 :: atomic { left > 0 -> left-- }; announce()
                 :: true
                 fi;
                 driving = NOBODY
              :: tokens > 0
              :: atomic { left > 0 -> left-- } -> break /* a signal */
              fi;
              take_now()
           od;
           atomic { /* Waiter::end */
             !locked;
             waiting = false;
             fresh = true;
             serves = !ticking;
             if
             :: serves -> ticking = true; fresh = false; quiet = 0
             :: else
             fi
           }
#ifndef FAULT_A_WAITER_IS_NOT_WATCHED
           if
           :: serves ->
              atomic { /* Tick::watch */
                watched = true;
                if
                :: !armed -> armed = true; alarm = true
                :: else
                fi
              }
           :: else
           fi
#endif
        :: else -> sleep_and_take()
        fi
     fi;
     got = false;
     serves = false
  :: break
  od
}

/* The progress thread, or any other. */
active proctype OtherThread() {
  bool first;
end:
  do
  :: atomic { left > 0 -> left-- }; announce()
  :: atomic { left > 0 -> left-- }
  od
}

/* Tick::alarm */
active proctype TimerThread() {
  bool first, stays;
end:
  do
  :: atomic { alarm -> alarm = false };
     if
     :: atomic { watched -> watched = false };
        LOCK; /* Waiter::is_over */
#ifndef FAULT_THE_TICK_SHOWS_NOTHING
        if
        :: !waiting -> show_held_back()
        :: else
        fi;
#endif
        atomic {
          if
          :: fresh -> quiet = 0; fresh = false
          :: else -> quiet++
          fi;
          if
          :: quiet < (waiting -> LONG_WAIT : 1) -> stays = true
          :: else ->
             if
             :: !waiting -> here = false
             :: else
             fi;
             ticking = false;
             quiet = 0
          fi;
          locked = false
        }
        if
        :: stays -> watched = true; stays = false
        :: else
        fi
     :: else
     fi;
     atomic {
       if
       :: watched -> armed = true; alarm = true
       :: else -> armed = false
       fi
     }
  od
}

/* Nothing can happen any more. */
active proctype Judge() {
end:
  timeout -> assert(EVERY_EVENT_IS_TOLD)
}
