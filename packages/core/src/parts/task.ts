import { describeCause } from '../events/cause.ts'
import type { Recorder } from '../events/recorder.ts'
import type { MaybePromise } from '../types.ts'
import type { EndpointKit } from './endpoint.ts'
import { type Defined, type Owned, partKind, required } from './part-kind.ts'

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

/** Runs the tasks of the core and of the plugins. */
export interface Tasks {
  run(): Promise<void>
  /** Resolves when no task is running. */
  settled(): Promise<void>
}

type Work = () => MaybePromise<void>

export type CreateTasks = (kitOf: (plugin: string) => EndpointKit, recorder: Recorder) => Tasks

export const noTasks: CreateTasks = () => ({ run: async () => {}, settled: async () => {} })

/** Creates the runner of work: one after the other. */
export function createRunner(tasks: readonly Work[], recorder: Recorder): Tasks {
  let running: Promise<void> | undefined
  async function runAll(): Promise<void> {
    for (const task of tasks) {
      try {
        await task()
      } catch (thrown) {
        const cause = describeCause(thrown)
        recorder.record(recorder.start(), { type: 'unhandled_failure', reason: 'task_failed', cause })
      }
    }
  }
  return {
    run: () => {
      running ??= runAll().finally(() => {
        running = undefined
      })
      return running
    },
    settled: async () => running,
  }
}

const createTasksOf =
  (tasks: readonly Owned<Task>[]): CreateTasks =>
  (kitOf, recorder) =>
    createRunner(
      tasks.map(
        ({ plugin, part }) =>
          () =>
            part.run(kitOf(plugin)),
      ),
      recorder,
    )

const taskKind = /* @__PURE__ */ partKind<Task, CreateTasks>('task', {
  title: 'task',
  schemas: () => ({ run: required() }),
  collect: createTasksOf,
})

/**
 * Defines a task.
 *
 * @example
 * const retries = defineTask(async (kit) => sendAgain(await dueMessages(kit)))
 */
export const defineTask = (run: Task['run']): Task => ({ kind: 'task', run, '~kind': taskKind })
