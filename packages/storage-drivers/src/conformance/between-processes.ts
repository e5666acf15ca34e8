import type { Bench } from './bench.ts'
import { freshKey, recordOf } from './keys.ts'
import { giveWay, sleep } from './moments.ts'
import type { Operations } from './operations.ts'
import type { Call, DriverProcess, Outcome } from './processes.ts'
import type { Proof } from './proof.ts'
import { isSame, shown } from './same-value.ts'
import { isWhole, largeValues } from './torn-reads.ts'

const keysAtOnce = 300
const expiringAtOnce = 120
/** Milliseconds for all processes to have read what they are to do before they do it. */
const notice = 300

/** Processes of the subject's module, ended whatever happens. */
export async function withProcesses(
  bench: Bench,
  use: (children: readonly DriverProcess[]) => Promise<void>,
): Promise<void> {
  const { module, processes = 4 } = bench.subject
  if (module === undefined) throw new TypeError('module must be given')
  // Only here: whatever else the kit does runs where there are no child processes.
  const { startProcesses } = await import('./processes.ts')
  const children = await startProcesses(module, processes)
  try {
    await use(children)
  } finally {
    await Promise.all(children.map((child) => child.kill()))
  }
}

/** Each process inserts every key at each of these moments; of each key one insert must win, and its value must be there. */
async function race(
  bench: Bench,
  driver: Operations,
  children: readonly DriverProcess[],
  { keys, moments }: { readonly keys: readonly string[]; readonly moments: readonly number[] },
): Promise<void> {
  bench.own(keys)
  const attempts = await Promise.all(
    children.flatMap((child, index) =>
      moments.map(async (at) => {
        const written = recordOf(`process ${index} at ${at}`)
        // Every other process from the end: one that is a little late would never meet the others, this way they all cross.
        const order = index % 2 === 0 ? keys : [...keys].reverse()
        const outcomes = await child.perform(
          order.map((key) => ['insertItem', key, written, { ttl: 3600 }]),
          { at },
        )
        return { written, outcomes: new Map(order.map((key, place) => [key, outcomes[place] as Outcome])) }
      }),
    ),
  )
  for (const key of keys) {
    const answers = attempts.map(({ written, outcomes }) => ({ written, ...outcomes.get(key) }))
    const failed = answers.find(({ error }) => error !== undefined)
    if (failed !== undefined) bench.broken(`insertItem() of another process failed: ${failed.error}`)
    const [winner, ...others] = answers.filter(({ value }) => value === true)
    if (winner === undefined || others.length > 0) {
      const count = winner === undefined ? 0 : others.length + 1
      bench.broken(`of ${children.length} processes that insert one key exactly 1 should win, and ${count} did`)
      continue
    }
    const found = await driver.get(key)
    if (isSame(found, winner.written)) continue
    bench.broken(`the value should be that of the process whose insertItem() answered true, and is ${shown(found)}`)
  }
}

const freshKeys = (count: number): string[] => Array.from({ length: count }, () => freshKey('spent:code'))

const replacements = (key: string): readonly Call[] =>
  Array.from(
    { length: 40 },
    (_, index): Call => ['setItem', key, largeValues[index % largeValues.length], { ttl: 3600 }],
  )

/** Large values one after the other under one key, and in between new keys. */
const writes = (key: string, inserted: readonly string[]): readonly Call[] =>
  inserted.flatMap((fresh, index): Call[] => [
    ['setItem', key, largeValues[index % largeValues.length], { ttl: 3600 }],
    ['insertItem', fresh, largeValues[0], { ttl: 3600 }],
  ])

async function proveKill(bench: Bench, driver: Operations, child: DriverProcess): Promise<void> {
  const [key, inserted] = [freshKey(), freshKeys(30)]
  bench.own([key, ...inserted])
  // It never answers: it is killed on the way.
  const writing = child.perform(writes(key, inserted), { serial: true }).catch(() => undefined)
  const end = performance.now() + 3000
  while ((await driver.get(inserted[1] as string)) === undefined && performance.now() < end) await sleep(1)
  await child.kill()
  await writing
  const found = await driver.get(key)
  if (!isWhole(found)) bench.broken(`a process that was killed while it wrote has left ${shown(found)}`)
  await Promise.all(
    inserted.map(async (fresh) => {
      const left = await driver.get(fresh)
      if (left !== undefined && !isWhole(left)) {
        bench.broken(`a process that was killed while it inserted has left ${shown(left)}`)
      }
      if (left !== undefined || (await driver.insert(fresh, recordOf('after')))) return
      bench.broken('what a killed process has not inserted should be free, and insertItem() answered false')
    }),
  )
  await driver.set(key, recordOf('after'))
  if (!isSame(await driver.get(key), recordOf('after')))
    bench.broken('a killed process has left a key that takes no value')
}

export const betweenProcesses: readonly Proof[] = [
  {
    name: 'lets one of several processes insert',
    needs: 'module',
    examine: (bench) =>
      withProcesses(bench, async (children) => {
        const driver = await bench.open()
        for (let round = 0; round < bench.rounds; round += 1) {
          await race(bench, driver, children, { keys: freshKeys(keysAtOnce), moments: [Date.now() + notice] })
        }
      }),
  },
  {
    name: 'lets one of several processes insert over an item that has expired',
    needs: 'module',
    examine: (bench) =>
      withProcesses(bench, async (children) => {
        const driver = await bench.open()
        for (let round = 0; round < bench.rounds; round += 1) {
          const keys = freshKeys(expiringAtOnce)
          const begun = Date.now()
          await Promise.all(keys.map((key) => driver.set(key, recordOf('expiring'), 1)))
          const written = Date.now()
          // Around the end of each, because it is the moment of the end that is dangerous, and once when all are surely over.
          const moments = Array.from({ length: 8 }, (_, index) => begun + 1000 + index * 40)
          await race(bench, driver, children, { keys, moments: [...moments, written + 2500] })
        }
      }),
  },
  {
    name: 'never shows another process a part of a value',
    needs: 'module',
    examine: (bench) =>
      withProcesses(bench, async (children) => {
        const driver = await bench.open()
        const key = freshKey()
        await driver.set(key, largeValues[0] as string)
        let writing = true
        const writers = Promise.all(
          children.slice(0, 2).map((child) => child.perform(replacements(key), { serial: true })),
        ).finally(() => {
          writing = false
        })
        while (writing) {
          const begun = performance.now()
          const found = await driver.get(key)
          await giveWay(begun)
          if (isWhole(found)) continue
          bench.broken(`while another process replaces a value getItem() gave ${shown(found)}`)
          break
        }
        const failed = (await writers).flat().find(({ error }) => error !== undefined)
        if (failed !== undefined) bench.broken(`setItem() of another process failed: ${failed.error}`)
      }),
  },
  {
    name: 'survives a process that is killed while it writes',
    needs: 'module',
    examine: (bench) =>
      withProcesses(bench, async (children) => {
        const driver = await bench.open()
        for (const child of children) await proveKill(bench, driver, child)
      }),
  },
  {
    name: 'lets a process end once it is disposed of',
    needs: 'module',
    examine: (bench) =>
      withProcesses(bench, async (children) => {
        const keys = freshKeys(children.length)
        bench.own(keys)
        const driver = await bench.open()
        await Promise.all(
          children.map((child, index) =>
            child.perform([['insertItem', keys[index], recordOf(1), { ttl: 3600 }]], { serial: true }),
          ),
        )
        const ended = await Promise.all(children.map((child) => child.end()))
        if (ended.includes(false))
          bench.broken('a process should end within 5 s of dispose(), and something kept it alive')
        if ((await driver.get(keys[0] as string)) === undefined) {
          bench.broken(
            'what a process has inserted should be there when it has ended; open() of the module must open the same storage',
          )
        }
      }),
  },
]
