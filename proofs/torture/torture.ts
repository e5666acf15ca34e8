import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createFleet, type Fleet } from '../../test/support/fleet.ts'
import { createRandom, type Random } from '../../test/support/random.ts'
import { reservedPort } from '../../test/support/reserved-port.ts'
import { newDirectory, realServerProgram, serverProgram } from '../../test/support/server-program.ts'
import { settingClients, writeSetting } from '../../test/support/server-setting.ts'
import { type Client, createClient } from './client.ts'
import type { RevokedFamily } from './family.ts'
import { runFinalChecks } from './final-checks.ts'
import { inspect } from './inspector.ts'
import { type Activity, createLedger, type Invariant, type Ledger } from './ledger.ts'
import { createPost } from './post.ts'
import { createSend } from './send.ts'
import type { TorturedStore } from './stores.ts'
import { retryWindow } from './window.ts'
import { workUntil } from './work.ts'

/** The faults of the servers or their store while the clients work. */
export type Chaos = (deps: {
  readonly fleet: Fleet
  readonly clients: readonly Client[]
  readonly ledger: Ledger
  readonly random: Random
  /** Aborted when the run should end. */
  readonly ended: AbortSignal
}) => Promise<void>

export interface TortureOptions {
  readonly store: (directory: string) => TorturedStore
  readonly chaos: Chaos
  /** The clients work at least this long, */
  readonly seconds: number
  /** and until all this has happened, but on a busy machine no longer than ninety seconds more. */
  readonly until?: Readonly<Partial<Record<Activity, number>>>
  /** Instead, until this invariant is violated: for a server that has a fault. */
  readonly untilViolated?: Invariant
  readonly servers: number
  readonly clients?: number
  readonly seed?: number
  /** The program of the servers; the real one unless said otherwise. */
  readonly program?: URL
  /** Environment variables of the servers. */
  readonly environment?: Readonly<Record<string, string>>
  /** Keep the directory of the run, with its logs, if there was a violation. */
  readonly keep?: boolean
}

export interface TortureReport extends Pick<Ledger, 'counts' | 'checks' | 'violations'> {
  readonly seconds: number
  /** Seconds of the longest time without a successful refresh. */
  readonly longestSilence: number
  readonly records: number
  /** Number of events of each type in the server logs. */
  readonly events: Readonly<Record<string, number>>
  readonly directory: string
}

const programs = new Map<string, Promise<string>>()

/** Bundles each program once per process, and removes the bundles at its end. */
function bundled(entry: URL): Promise<string> {
  const known = programs.get(entry.href)
  if (known !== undefined) return known
  const directory = newDirectory()
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const building = serverProgram(entry, directory)
  programs.set(entry.href, building)
  return building
}

/** Whether so much has happened. */
const isEnough = ({ counts, violations }: Ledger, { until = {}, untilViolated }: TortureOptions): boolean =>
  Object.entries(until).every(([activity, least]) => counts[activity as Activity] >= least) &&
  (untilViolated === undefined || violations[untilViolated].length > 0)

/** Runs clients against servers that are killed, and checks every response. */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const { chaos, seconds, servers, clients: crowd = 24, seed = 1, environment = {} } = options
  const directory = newDirectory()
  const random = createRandom(seed)
  const ledger = createLedger()
  const { post, close } = createPost()
  const ports = await Promise.all(Array.from({ length: servers }, reservedPort))
  const store = options.store(join(directory, 'store'))
  mkdirSync(join(directory, 'logs'))
  const fleet = createFleet({
    program: await (options.program === undefined ? realServerProgram() : bundled(options.program)),
    configuration: writeSetting(directory, `http://127.0.0.1:${ports[0]}`, store.configuration, crowd, retryWindow),
    ports,
    directory: join(directory, 'logs'),
    environment,
    onExit: (wasKilled, how) => ledger.check('answers known', wasKilled, () => `a server ended by itself: ${how}`),
  })
  const revokedFamilies: RevokedFamily[] = []
  const newSend = () => createSend({ post, ports, ledger, random: random.fork() })
  const clients = Array.from({ length: crowd }, (_, user) => {
    const as = settingClients[user % settingClients.length] as (typeof settingClients)[number]
    return createClient({
      user,
      as,
      patient: user % 4 < 2,
      send: newSend(),
      ledger,
      random: random.fork(),
      revokedFamilies,
    })
  })

  const inspectorSend = newSend()
  const choice = random.fork()
  const inspectOne = async (): Promise<void> => {
    if (revokedFamilies.length > 0) await inspect(choice.pick(revokedFamilies), { send: inspectorSend, ledger })
  }

  const began = Date.now()
  const isOver = (extra: number): boolean => Date.now() >= began + (seconds + extra) * 1000
  try {
    for (const port of ports) fleet.start(port)
    await Promise.all(ports.map(fleet.ready))
    await workUntil({
      actors: [...clients.map(({ step }) => step), inspectOne],
      chaos: (ended) => chaos({ fleet, clients, ledger, random: random.fork(), ended }),
      isEnough: () => isOver(90) || (isOver(0) && isEnough(ledger, options)),
      random: random.fork(),
    })
    const worked = { seconds: (Date.now() - began) / 1000, longestSilence: ledger.longestSilence / 1000 }
    const { records, events } = await runFinalChecks({
      fleet,
      store,
      clients,
      revokedFamilies,
      send: newSend(),
      ledger,
    })
    const { counts, checks, violations } = ledger
    return { counts, checks, violations, ...worked, records, events, directory }
  } finally {
    await fleet.killAll()
    close()
    const isViolated = Object.values(ledger.violations).some((ofKind) => ofKind.length > 0)
    if (!(isViolated && options.keep === true)) rmSync(directory, { recursive: true, force: true })
  }
}
