import type { MaybePromise } from '../types.ts'
import type { EndpointKit } from './endpoint.ts'
import { type Defined, partKind, required } from './part-kind.ts'

/**
 * Work that no request waits for, such as retries. The host runs it with `provider.runTasks()`, at start and every few
 * seconds, in every process.
 */
export interface Task extends Defined<'task'> {
  /**
   * Does what is due now. Other processes run it at the same time: claim what must be done once with `records.insert`.
   * A failure is recorded as an event.
   */
  run(kit: EndpointKit): MaybePromise<void>
}

export const taskKind = /* @__PURE__ */ partKind<Task>('task', {
  title: 'task',
  schemas: () => ({ run: required() }),
  collect: (parts) => parts,
})

/**
 * Defines a task.
 *
 * @example
 * const retries = defineTask(async (kit) => sendAgain(await dueMessages(kit)))
 */
export const defineTask = (run: Task['run']): Task => ({ kind: 'task', run, '~kind': taskKind })
