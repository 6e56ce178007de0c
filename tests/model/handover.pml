/* SPDX-License-Identifier: Apache-2.0
 *
 * The hand-over of sockets between the progress thread, a poller and a waiter (docs/progress.md), for Spin: two
 * connections, three threads, and the tick. Octets arrive at any moment, both threads of the application come and go
 * at any moment, and an alarm goes off at any moment after it was set. Whatever the order, the model ends, and when
 * nothing can happen any more, no socket holds octets: otherwise a wake-up was lost.
 *
 * What a thread does with a stream's lock held is one step: of what others read or write meanwhile without that lock,
 * only the poller's presence matters, and Poller::claim looks at it with the poller's lock held. Everything else is
 * as many steps as it has accesses to what threads share. How a thread that sleeps is woken (eventfd, futex, epoll)
 * is the kernel's. The names are those of the functions. FAULT_... takes out one step that the argument needs:
 * model.py checks that each is noticed.
 */

#define STREAMS 2
#ifndef ARRIVALS
#define ARRIVALS 2
#endif
#ifndef POLLS
#define POLLS 2
#endif
#ifndef WAITS
#define WAITS 1
#endif
#define LONG_WAIT 2 /* tuning::kLongWait, of 10 ticks */

mtype = { kProgressThread, kPoller, kWaiter };

/* --- A connection: Stream and SocketWatch */
bool octets[STREAMS]; /* in the socket: level-triggered */
mtype owner[STREAMS] = kProgressThread;
bool in_thread[STREAMS] = true; /* watched_: interest in the progress thread's set */
bool in_waiter[STREAMS];        /* seats_: interest in the waiter's set */

bool poller_here, poller_came; /* Presence */
byte claimed;                  /* Poller: one bit for each stream, under its lock */

bool waiter_here, waiting, fresh, ticking; /* Waiter, under its lock */
byte quiet;

bool watched_poller, watched_waiter, armed, alarm; /* Tick, under its lock */
byte asked;                                        /* CoalescedWork */

bool rests; /* the progress thread: ReadinessThread's duty */

byte polls = POLLS, waits = WAITS;
bool event; /* raised by another thread; it ends a wait */

#define READY(set, s) (set[s] && octets[s])

/* SocketWatch::settle. The set of a waiter that has gone keeps what it has. */
inline settle(s) {
  if
  :: owner[s] == kWaiter -> in_waiter[s] = true
  :: owner[s] == kPoller -> in_waiter[s] = false
  :: else
  fi;
#ifndef FAULT_SETTLES_NOT_FOR_THE_THREAD
  in_thread[s] = (owner[s] == kProgressThread)
#else
  if
  :: owner[s] != kProgressThread -> in_thread[s] = false
  :: else
  fi
#endif
}

/* Stream::drive: reads all that is there. */
inline drive(s) {
  octets[s] = false;
  settle(s)
}

/* Poller::claim. `seen`: its presence, before the lock. */
#ifndef FAULT_CLAIMS_WITHOUT_A_SECOND_LOOK
#define CLAIMS(seen) (poller_here)
#define LOOK(seen)
#else
#define CLAIMS(seen) (seen)
#define LOOK(seen) seen = poller_here;
#endif

/* Stream::is_over. SocketWatch::heir: a poller or a waiter that is present, else the progress thread. */
inline is_over(s, driver) {
  LOOK(here)
  atomic {
    if
    :: owner[s] == driver ->
       if
       :: CLAIMS(here) -> claimed = claimed | (1 << s); owner[s] = kPoller
       :: else -> owner[s] = (waiter_here -> kWaiter : kProgressThread)
       fi;
       settle(s)
    :: else
    fi;
    here = false
  }
}

/* Stream::drive_if_free, with SocketWatch::driven_by. Another thread may hold the lock. */
inline drive_if_free(s) {
  LOOK(here)
  atomic {
    if
    :: true ->
       if
       :: owner[s] != kPoller && CLAIMS(here) -> claimed = claimed | (1 << s); owner[s] = kPoller
       :: else
       fi;
       drive(s)
    :: true
    fi;
    here = false
  }
}

/* Stream::waited_for_by */
inline waited_for_by(s) {
  atomic {
    if
    :: owner[s] == kProgressThread -> owner[s] = kWaiter; settle(s)
    :: else
    fi
  }
}

/* Poller::hand_back */
inline hand_back(list) {
  atomic { list = claimed; claimed = 0 } /* its lock */
  if
  :: list & 1 -> is_over(0, kPoller)
  :: else
  fi;
  if
  :: list & 2 -> is_over(1, kPoller)
  :: else
  fi;
  list = 0
}

/* Tick::watch and schedule: the alarm is set along with what is due. */
inline watch(driver_watched) {
  atomic {
    driver_watched = true;
    if
    :: !armed -> armed = true; alarm = true
    :: else
    fi
  }
}

/* Tick::do_tick: each driver that is watched is asked, and on_tick() selects who serves. */
inline do_tick(list, all, stays) {
  atomic { /* Poller::is_over */
    if
    :: watched_poller && poller_came -> poller_came = false; stays = true
    :: watched_poller && !poller_came -> watched_poller = false; all = true
    :: else
    fi
  }
  if
  :: all ->
     atomic { poller_here = false; all = false }
#ifndef FAULT_THE_TICK_LEAVES_SOCKETS
     hand_back(list)
#endif
  :: else
  fi;
  atomic { /* Waiter::is_over, with its lock held */
    if
    :: watched_waiter ->
       if
       :: fresh -> quiet = 0; fresh = false
       :: else -> quiet++
       fi;
       if
       :: quiet < (waiting -> LONG_WAIT : 1)
       :: else ->
          watched_waiter = false;
          if
          :: !waiting -> all = true; waiter_here = false
          :: else
          fi;
          ticking = false;
          quiet = 0
       fi
    :: else
    fi
  }
  if
  :: all -> is_over(0, kWaiter); is_over(1, kWaiter); all = false
  :: else
  fi;
  atomic {
    if /* relief(): pollers serve while one stays that has time, else the progress thread does. */
    :: stays -> rests = true
#ifndef FAULT_RESTS_WITHOUT_A_POLLER
    :: true -> rests = false
#else
    :: !stays
#endif
    fi;
    stays = false;
    if
    :: watched_poller || watched_waiter -> armed = true; alarm = true
    :: else -> armed = false
    fi
  }
}

/* Tick::tick. CoalescedWork: the call is counted before the other thread is checked. */
inline tick(seen, list, all, stays) {
  atomic { seen = asked; asked++ }
  if
  :: seen == 0 ->
     seen = 1;
     do
     :: do_tick(list, all, stays);
        atomic {
          if
#ifndef FAULT_A_TICK_IS_FORGOTTEN
          :: asked == seen -> asked = 0; break
          :: asked != seen -> seen = asked
#else
          :: true -> asked = 0; break
#endif
          fi
        }
     od
  :: else
  fi;
  seen = 0
}

/* --- The threads */

active proctype ProgressThread() {
end:
  do
  :: atomic { !rests && READY(in_thread, 0) -> drive(0) }
  :: atomic { !rests && READY(in_thread, 1) -> drive(1) }
  od
}

/* A thread of the application that polls, begins to sleep in CompletionQueue::wait, or leaves without a word. */
active proctype PollingThread() {
  byte list, seen;
  bool here, all, stays;
  do
  :: polls > 0 -> /* Poller::drive: it is present, or its row of calls is long enough by now. */
     atomic { polls--; all = poller_here }
     atomic {
       poller_came = true;
       if
       :: !all && !poller_here -> poller_here = true; all = true
       :: else -> all = false
       fi
     }
     if
#ifndef FAULT_A_POLLER_IS_NOT_WATCHED
     :: all -> watch(watched_poller); all = false
#else
     :: all -> all = false
#endif
     :: else
     fi;
     drive_if_free(0);
     drive_if_free(1);
     if /* Poller::idle: ReadinessThread::help, and the tick if it is due. */
     :: atomic { rests && READY(in_thread, 0) -> drive(0) }
     :: atomic { rests && READY(in_thread, 1) -> drive(1) }
     :: armed -> tick(seen, list, all, stays)
     :: true
     fi
  :: atomic { poller_here -> poller_here = false } /* Poller::sleeps, by a thread that may poll again */
     rests = false;
     hand_back(list)
  :: true -> break
  od
}

/* A thread of the application in CompletionChannel::get_event. It ends a wait when an event is there: its own, which a
 * drive raised, or another thread's. */
active proctype WaitingThread() {
  bool all;
  do
  :: waits > 0 ->
     atomic { /* Waiter::begin, with its lock held */
       waits--;
       all = !waiter_here;
       waiter_here = true;
       waiting = true;
       fresh = true
     }
     if
     :: all -> waited_for_by(0); waited_for_by(1); all = false
     :: else
     fi;
end: /* Waiter::drive_until */
     do
     :: atomic { READY(in_waiter, 0) -> drive(0) }
     :: atomic { READY(in_waiter, 1) -> drive(1) }
     :: atomic { READY(in_waiter, 0) -> drive(0); break }
     :: atomic { READY(in_waiter, 1) -> drive(1); break }
     :: atomic { event -> event = false; break }
     od;
     atomic { /* Waiter::end, with its lock held */
       waiting = false;
       fresh = true;
       if
       :: !ticking -> ticking = true; fresh = false; quiet = 0; all = true
       :: else
       fi
     }
     if
#ifndef FAULT_A_WAITER_IS_NOT_WATCHED
     :: all -> watch(watched_waiter); all = false
#else
     :: all -> all = false
#endif
     :: else
     fi
  :: true -> break
  od
}

/* The timer's thread. */
active proctype TimerThread() {
  byte list, seen;
  bool here, all, stays;
end:
  do
  :: atomic { alarm -> alarm = false }; tick(seen, list, all, stays)
  od
}

/* The peers, and what else ends a wait. */
active proctype World() {
  byte left = ARRIVALS;
end:
  do
  :: atomic { left > 0 -> octets[0] = true; left-- }
  :: atomic { left > 0 -> octets[1] = true; left-- }
  :: atomic { left > 0 && waiting -> event = true; left-- }
  :: atomic { left > 0 -> left-- }
  od
}

/* Nothing can happen any more. */
active proctype Judge() {
end:
  timeout -> assert(!octets[0] && !octets[1])
}
