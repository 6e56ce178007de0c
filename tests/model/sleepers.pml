/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that sleep until a completion queue has something for them (CompletionQueueState::push,
 * CompletionQueueState::wait and Sleepers), for Spin: row 19 of docs/progress.md. Two threads push, three wait, and
 * one polls. A wait ends at any moment, by its time or because the thread is canceled, also when it has been woken. A
 * queue that is not empty may be full and lose a completion. Whatever the order, the model ends, and then no thread
 * sleeps while there are completions or one was lost.
 *
 * A step is an access to what threads share; what holds the queue's lock, or that of Sleepers, is one step. The
 * kernel's part is a condition variable that wakes one thread of those asleep. The order of relaxed accesses is not
 * modeled: the queue's lock decides it. FAULT_... takes out one step that the argument needs: model.py checks that
 * each is noticed.
 */

#define WAITERS 3
#ifndef ENDS
#define ENDS 1
#endif

byte held;       /* completions in the queue, under its lock */
bool overflowed; /* CompletionQueueState::nothing_there says so */
byte count;      /* Sleepers: threads that may sleep */
byte told;       /* the number that changes with each notification, under its lock */
bool asleep[WAITERS], woken[WAITERS];
byte ends = ENDS; /* waits that end without what they wait for */

/* Sleepers::tell_one: of the threads that sleep, any. */
inline tell_one() {
  atomic { told++ };
  atomic {
    if
    :: asleep[0] && !woken[0] -> woken[0] = true
    :: asleep[1] && !woken[1] -> woken[1] = true
    :: asleep[2] && !woken[2] -> woken[2] = true
    :: else
    fi
  }
}

/* Sleepers::tell_all */
inline tell_all() {
  atomic { told++ };
  atomic { woken[0] = asleep[0]; woken[1] = asleep[1]; woken[2] = asleep[2] }
}

/* CompletionQueueState::push */
active [2] proctype PushingThread() {
  bool first_loss, any;
#ifdef FAULT_ASKS_BEFORE_THE_PUSH
  any = (count != 0);
#endif
  atomic { /* the queue's lock */
    if
    :: held++
    :: held > 0 -> first_loss = !overflowed; overflowed = true
    fi
  }
#ifndef FAULT_ASKS_BEFORE_THE_PUSH
  any = (count != 0); /* Sleepers::any */
#endif
  if
#ifndef FAULT_A_LOSS_WAKES_ONE
  :: any && first_loss -> tell_all()
  :: any && !first_loss -> tell_one()
#else
  :: any -> tell_one()
#endif
  :: else
  fi
}

/* CompletionQueueState::wait, after its poll. */
active [WAITERS] proctype WaitingThread() {
  byte me = _pid - 2, seen;
  bool over;
#ifdef FAULT_ARRIVES_AFTER_THE_LOOK
  bool arrived;
#endif
#ifndef FAULT_ARRIVES_AFTER_THE_LOOK
  count++; /* Sleepers::arrive */
#endif
  do
  :: /* The look of CompletionQueueState::Wait. Sleepers::told comes first. */
#ifndef FAULT_GETS_THE_NUMBER_AFTER_THE_LOOK
     seen = told;
#endif
     atomic { /* the queue's lock: CompletionQueueState::take_held */
       if
       :: held > 0 -> held--; over = true
       :: else
       fi
     }
     if
     :: over || overflowed -> break /* CompletionQueueState::nothing_there */
     :: else
     fi;
#ifdef FAULT_ARRIVES_AFTER_THE_LOOK
     if
     :: !arrived -> arrived = true; count++
     :: else
     fi;
#endif
#ifdef FAULT_GETS_THE_NUMBER_AFTER_THE_LOOK
     seen = told;
#endif
     /* Sleepers::sleep compares with its lock held, which the condition variable releases. */
#ifndef FAULT_SLEEPS_WITHOUT_COMPARING
     asleep[me] = (told == seen);
#else
     asleep[me] = true;
#endif
end_asleep:
     do
     :: !asleep[me] -> break
     :: atomic { woken[me] -> woken[me] = false; asleep[me] = (told == seen) }
     :: atomic { asleep[me] && ends > 0 -> ends--; woken[me] = false; asleep[me] = false; over = true }
     od;
     if
     :: over -> break
     :: else
     fi
  od;
#ifdef FAULT_ARRIVES_AFTER_THE_LOOK
  if
  :: arrived -> count--
  :: else
  fi;
#else
  count--; /* Sleepers::leave */
#endif
#ifndef FAULT_LEAVES_WITHOUT_WAKING
  if /* the end of CompletionQueueState::Wait */
  :: held != 0 ->
     if
     :: count != 0 -> tell_one()
     :: else
     fi
  :: else
  fi
#endif
}

/* CompletionQueueState::poll takes what others were woken for. */
active proctype PollingThread() {
  if
  :: atomic { held > 0 -> held-- }
  :: true
  fi
}

/* Nothing can happen any more. */
active proctype Judge() {
end:
  timeout -> assert((held == 0 && !overflowed) || (!asleep[0] && !asleep[1] && !asleep[2]))
}
