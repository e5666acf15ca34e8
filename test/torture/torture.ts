import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { createAsk } from './ask.ts'
import { type Client, createClient } from './client.ts'
import type { Grave } from './family.ts'
import { finale } from './finale.ts'
import { createFleet, type Fleet } from './fleet.ts'
import { inspect } from './inspector.ts'
import { type Activity, createLedger, type Ledger } from './ledger.ts'
import { createPost } from './post.ts'
import { createRandom, type Random } from './random.ts'
import { torturedClients, writeSetting } from './setting.ts'
import type { TorturedStore } from './stores.ts'
import { newDirectory, serverProgram } from './surroundings.ts'
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
  /** and until all this has happened, but no longer than four times that. */
  readonly until?: Readonly<Partial<Record<Activity, number>>>
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

const realServer = new URL('./programs/server.ts', import.meta.url)

/** Whether so much has happened. */
const isEnough = ({ counts }: Ledger, until: Readonly<Partial<Record<Activity, number>>>): boolean =>
  Object.entries(until).every(([activity, least]) => counts[activity as Activity] >= least)

/** Runs clients against servers that are killed, and checks every response. */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const { chaos, seconds, until = {}, servers, clients: crowd = 24, seed = 1, environment = {} } = options
  const directory = newDirectory()
  const random = createRandom(seed)
  const ledger = createLedger()
  const { post, close } = createPost()
  const ports = await Promise.all(Array.from({ length: servers }, freePort))
  const store = options.store(join(directory, 'store'))
  mkdirSync(join(directory, 'logs'))
  const fleet = createFleet({
    program: await serverProgram(options.program ?? realServer, directory),
    configuration: writeSetting(directory, `http://127.0.0.1:${ports[0]}`, store.configuration, crowd),
    ports,
    directory: join(directory, 'logs'),
    environment,
    ledger,
  })
  const graves: Grave[] = []
  const newAsk = () => createAsk({ post, ports, ledger, random: random.fork() })
  const clients = Array.from({ length: crowd }, (_, user) => {
    const as = torturedClients[user % torturedClients.length] as (typeof torturedClients)[number]
    return createClient({ user, as, patient: user % 4 < 2, ask: newAsk(), ledger, random: random.fork(), graves })
  })

  const inspectorAsk = newAsk()
  const choice = random.fork()
  const inspectOne = async (): Promise<void> => {
    if (graves.length > 0) await inspect(choice.pick(graves), { ask: inspectorAsk, ledger })
  }

  const began = Date.now()
  const isOver = (factor: number): boolean => Date.now() >= began + factor * seconds * 1000
  try {
    for (const port of ports) fleet.start(port)
    await Promise.all(ports.map(fleet.ready))
    await workUntil({
      actors: [...clients.map(({ step }) => step), inspectOne],
      chaos: (ended) => chaos({ fleet, clients, ledger, random: random.fork(), ended }),
      isEnough: () => isOver(4) || (isOver(1) && isEnough(ledger, until)),
      random: random.fork(),
    })
    const worked = { seconds: (Date.now() - began) / 1000, longestSilence: ledger.longestSilence / 1000 }
    const { records, events } = await finale({ fleet, store, clients, graves, ask: newAsk(), ledger })
    const { counts, checks, violations } = ledger
    return { counts, checks, violations, ...worked, records, events, directory }
  } finally {
    await fleet.killAll()
    close()
    const isViolated = Object.values(ledger.violations).some((found) => found.length > 0)
    if (!(isViolated && options.keep === true)) rmSync(directory, { recursive: true, force: true })
  }
}
