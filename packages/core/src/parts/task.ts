import type { MaybePromise } from '../types.ts'
import type { EndpointKit } from './endpoint.ts'
import { partKind, required } from './part-kind.ts'

/**
 * Work that no request waits for, such as retries. The host runs it with `provider.runTasks()`, at start and every few
 * seconds, in every process.
 */
export interface Task {
  readonly kind: 'task'
  /**
   * Does what is due now. Other processes run it at the same time: claim what must be done once with `records.insert`.
   * A failure is recorded as an event.
   */
  run(kit: EndpointKit): MaybePromise<void>
}

/**
 * Defines a task.
 *
 * @example
 * const retries = defineTask(async (kit) => sendAgain(await dueMessages(kit)))
 */
export const defineTask = (run: Task['run']): Task => ({ kind: 'task', run })

export const taskKind = partKind<Task>('task', { run: required })
