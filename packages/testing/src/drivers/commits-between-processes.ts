import type { DriverChanges } from '@grantry/core'
import { performTogether, untilWritten, withProcesses } from './between-processes.ts'
import { judge, newContenders, sharedKeys } from './commit-race.ts'
import { itemOf, openCommitting } from './commits.ts'
import { keysOf } from './intercept.ts'
import type { Operations } from './operations.ts'
import type { DriverProcess } from './processes.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { freshKey, isSameValue, recordOf } from './sample-records.ts'
import { untilRecovered } from './timing.ts'

/** Each has few keys, so that the commits of all processes collide. */
const groups = 20
const commitsPerGroup = 2

async function race(context: ProofContext, driver: Operations, children: readonly DriverProcess[]): Promise<void> {
  const contenders = (
    await Promise.all(
      Array.from({ length: groups }, () => newContenders(driver, sharedKeys(4), commitsPerGroup * children.length)),
    )
  ).flat()
  context.trackKeys(contenders.flatMap(({ changes }) => keysOf(changes)))
  const ownOf = (index: number) => contenders.filter((_, place) => place % children.length === index)
  const outcomes = await performTogether(children, (index) => ownOf(index).map(({ changes }) => ['commit', changes]))
  const results = outcomes.flatMap((each, index) =>
    ownOf(index).map((contender, place) => ({ contender, ...each[place] })),
  )
  const failed = results.find(({ error }) => error !== undefined)
  if (failed !== undefined) context.fail(`commit() failed in another process: ${failed.error}`)
  else
    await judge(
      context,
      driver,
      results.map(({ contender, value }) => ({ contender, outcome: value })),
    )
}

/** A commit of several items. The values are so long that no store writes them in one piece. */
function longCommit(): DriverChanges {
  const put = [freshKey('access'), freshKey('refresh'), freshKey('replay')]
  return {
    create: [itemOf(freshKey('spent:refresh'), 'created')],
    put: put.map((key) => itemOf(key, 'put'.repeat(5000))),
    remove: [freshKey()],
  }
}

async function proveKill(context: ProofContext, driver: Operations, child: DriverProcess): Promise<void> {
  const commits = Array.from({ length: 40 }, longCommit)
  context.trackKeys(commits.flatMap(keysOf))
  await Promise.all(commits.flatMap(({ remove }) => remove.map((key) => driver.set(key, recordOf('earlier')))))
  // The calls never complete: the process is killed meanwhile.
  const writing = child
    .perform(
      commits.map((changes) => ['commit', changes]),
      { serial: true },
    )
    .catch(() => undefined)
  const started = commits[2]?.create[0]?.key ?? ''
  await untilWritten(driver, started, writing)
  await child.kill()
  await writing
  const partsOf = async ({ create, put, remove }: DriverChanges): Promise<readonly boolean[]> => [
    ...(await Promise.all(
      [...create, ...put].map(async ({ key, value }) => isSameValue(await driver.get(key), value)),
    )),
    ...(await Promise.all(remove.map(async (key) => (await driver.get(key)) === undefined))),
  ]
  // Reads again, because a database can perform the last commit of the process between these reads.
  const partial = await untilRecovered(
    async () => (await Promise.all(commits.map(partsOf))).filter((parts) => new Set(parts).size > 1),
    ({ length }) => length === 0,
  )
  for (const parts of partial) {
    const performed = parts.filter(Boolean).length
    context.fail(`a process that was killed during commit() left ${performed} of ${parts.length} changes`)
  }
}

const proofOf = (
  name: string,
  prove: (context: ProofContext, driver: Operations, children: readonly DriverProcess[]) => Promise<void>,
): Proof => ({
  name,
  needs: 'module',
  async run(context) {
    const driver = await openCommitting(context)
    if (driver === undefined) return
    await withProcesses(context, (children) => prove(context, driver, children))
  },
})

export const commitsBetweenProcesses: readonly Proof[] = [
  proofOf('performs each commit of several processes completely or not at all', async (context, driver, children) => {
    for (let round = 0; round < context.rounds; round += 1) await race(context, driver, children)
  }),
  proofOf('leaves no part of a commit when a process is killed', async (context, driver, children) => {
    for (const child of children) await proveKill(context, driver, child)
  }),
]
