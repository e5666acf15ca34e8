import type { Writable } from 'node:stream'

/**
 * The current turn of the event loop, for one connection. Its commands are written to the socket together, because each
 * write is a system call.
 */
export interface Turn {
  /** Call it before a command is sent. */
  holdWrites(): void
  /** Runs a task at the end of the turn. The commands that it sends still belong to the turn. */
  atEnd(task: () => void): void
}

/** @param socket returns the current socket of the connection; `undefined` without one, and for a cluster */
export function createTurn(socket: () => Pick<Writable, 'cork' | 'uncork'> | undefined): Turn {
  let isOpen = false
  let held: Pick<Writable, 'cork' | 'uncork'> | undefined
  let tasks: (() => void)[] = []

  function end(): void {
    const due = tasks
    tasks = []
    for (const task of due) task()
    held?.uncork()
    held = undefined
    isOpen = false
  }

  function open(): void {
    if (isOpen) return
    isOpen = true
    setImmediate(end)
  }

  return {
    holdWrites() {
      open()
      if (held !== undefined) return
      held = socket()
      held?.cork()
    },
    atEnd(task) {
      open()
      tasks.push(task)
    },
  }
}
