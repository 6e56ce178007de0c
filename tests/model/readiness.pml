/* SPDX-License-Identifier: Apache-2.0
 *
 * A progress thread and the threads that help it (ReadinessThread), for Spin: rows 2, 6, 7 and 8 of docs/progress.md.
 * Something becomes ready at any moment: a socket with octets, which is reported as long as there are some, the end
 * of a socket that is not read, and a connection at a listener, which are reported once. A thread helps and leaves, a
 * tick tells the thread to rest or to go on, and the thread may be stopped. Whatever the order, the model ends. Then
 * nothing is left that was ready, or the thread was stopped and has ended.
 *
 * A step is an access to what threads share. FAULT_... takes out one step that the argument needs: model.py checks
 * that each is noticed.
 */

#ifndef ARRIVALS
#define ARRIVALS 2
#endif
#ifndef HELPS
#define HELPS 2
#endif

mtype = { kServe, kRest, kEnd };

mtype duty = kServe; /* Serving::duty */
bool asleep;         /* the thread sleeps until duty.notify_one() */
bool bell;
bool served; /* Serving::mutex is taken */

bool octets;           /* in a socket: level-triggered */
bool ended, end_told;  /* the end of a socket: to be served, and to be reported by EPOLLONESHOT */
bool knocks, edge;     /* a connection at a listener: to be accepted, and to be reported by EPOLLET */
bool helper = true;    /* a proxy or a poller is present */
bool helps_no_more;    /* what stop() requires */
bool stopped, is_over; /* stop() was called, and has returned */

#define READY (bell || octets || end_told || edge)

/* ReadinessThread::change: from rest(), resume() and stop(). */
inline change(what, before) {
  before = duty;
  do
#ifndef FAULT_THE_END_IS_NOT_FINAL
  :: before == what || before == kEnd -> break
#else
  :: before == what -> break
#endif
  :: else ->
     atomic {
       if
#ifndef FAULT_CHANGES_WITHOUT_COMPARING
       :: duty != before -> before = duty
#endif
       :: else -> duty = what; before = 0
       fi
     }
     if
     :: before == 0 ->
#ifndef FAULT_CHANGES_WITHOUT_A_NOTICE
        asleep = false;
#endif
#ifndef FAULT_CHANGES_WITHOUT_A_BELL
        bell = true;
#endif
        break
     :: else
     fi
  od;
  before = 0
}

/* ReadinessSet::wait: what is reported once is the caller's from here on. */
inline wait(all) {
  atomic {
    if
    :: bell -> got_bell = true
    :: octets -> got_octets = true
    :: end_told -> got_end = true; end_told = false
    :: edge -> got_edge = true; edge = false
    :: else
    fi;
    if
    :: all ->
       got_bell = bell;
       got_octets = octets;
       got_end = got_end || end_told;
       end_told = false;
       got_edge = got_edge || edge;
       edge = false
    :: else
    fi
  }
}

/* ReadinessThread::serve, with the lock held. What is served may make a proxy leave, and so call resume(). */
inline serve(may_serve, before) {
  if
  :: got_bell -> bell = false; got_bell = false
  :: else
  fi;
  if
#ifndef FAULT_A_LISTENER_IS_LEFT
  :: got_edge -> knocks = false
#else
  :: got_edge && (may_serve) -> knocks = false
#endif
  :: else
  fi;
  got_edge = false;
  if
#ifndef FAULT_AN_END_IS_LEFT
  :: got_end -> ended = false
#else
  :: got_end && (may_serve) -> ended = false
#endif
  :: else
  fi;
  got_end = false;
  if
  :: got_octets && (may_serve) ->
     octets = false;
     if
     :: true -> change(kServe, before)
     :: true
     fi
  :: else
  fi;
  got_octets = false
}

/* ReadinessThread::run */
active proctype ProgressThread() {
  mtype before;
  bool got_bell, got_octets, got_end, got_edge;
  do
  :: atomic { duty == kEnd -> is_over = true; break }
  :: atomic { duty == kRest -> asleep = true }; /* duty.wait(), which compares it in the kernel */
end_asleep:
     !asleep
  :: duty == kServe ->
end_waits:
     atomic { READY -> wait(true) };
     atomic { !served -> served = true };
     serve(duty == kServe, before);
     served = false
  od
}

/* A proxy or a poller: the thread rests while it is present. */
active proctype Helper() {
  mtype before;
  bool got_bell, got_octets, got_end, got_edge;
  byte helps = HELPS;
  change(kRest, before);
  do
#ifndef FAULT_LOOKS_BEFORE_THE_LOCK
  :: helps > 0 -> /* ReadinessThread::help, also when something is late; it does not wait for the lock. */
     helps--;
     if
     :: atomic { !served -> served = true };
        wait(true);
        serve(true, before);
        served = false
     :: true
     fi
  :: helps > 0 -> /* ReadinessThread::serve_one */
     helps--;
     atomic { !served -> served = true };
     wait(false);
     serve(true, before);
     served = false
#else
  :: helps > 0 ->
     helps--;
     wait(true);
     if
     :: atomic { !served -> served = true };
        serve(true, before);
        served = false
     :: served -> d_step { got_bell = false; got_octets = false; got_end = false; got_edge = false }
     fi
#endif
  :: break
  od;
  helper = false;
  helps_no_more = true;
  change(kServe, before)
}

/* ProgressThreads::on_tick. Its rest() may overtake the resume() of a helper that leaves. */
active proctype Tick() {
  mtype before;
  do
  :: helper -> change(kRest, before)
#ifndef FAULT_THE_TICK_DOES_NOT_RESUME
  :: !helper -> change(kServe, before); break
#else
  :: !helper -> break
#endif
  od
}

/* ReadinessThread::stop. Helpers are excluded; resume() is not. */
active proctype Stopper() {
  mtype before;
  if
#ifndef FAULT_HELPS_BESIDE_THE_END
  :: helps_no_more ->
#else
  :: true ->
#endif
     stopped = true;
     change(kEnd, before);
     is_over /* join() */
  :: true
  fi
}

active proctype World() {
  byte left = ARRIVALS;
end:
  do
  :: atomic { left > 0 -> octets = true; left-- }
  :: atomic { left > 0 -> ended = true; end_told = true; left-- }
  :: atomic { left > 0 -> knocks = true; edge = true; left-- }
  :: atomic { left > 0 -> left-- }
  od
}

/* Nothing can happen any more. */
active proctype Judge() {
end:
  timeout -> assert(stopped -> is_over : !octets && !ended && !knocks)
}
