import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { hashCheaply } from '../support/hash-cheaply.ts'
import { networkStores } from '../support/network-stores.ts'
import { postgresqlMissing } from '../support/postgresql-process.ts'
import { redisMissing } from '../support/redis-server.ts'
import { newDirectory } from '../support/server-program.ts'
import { describeSideBySide } from '../support/side-by-side.ts'
import { inTurn, type Service, startService } from './service.ts'

type Closings = (() => unknown)[]

/** Starts a store, and adds what ends it to `closings`. */
type StartStore = (closings: Closings) => Promise<object>

const onNetwork =
  (name: keyof typeof networkStores): StartStore =>
  async (closings) => {
    const { stop, ...storage } = await networkStores[name]()
    closings.push(stop)
    return storage
  }

const onFiles: StartStore = async (closings) => {
  const directory = newDirectory()
  closings.push(() => rmSync(directory, { recursive: true, force: true }))
  return { driver: 'filesystem', directory }
}

type DefineSuite = typeof describeSideBySide

/** Defines a suite on each storage that several processes can share. */
function describeOnEveryStore(
  title: string,
  defineSuite: DefineSuite,
  define: (name: string, start: StartStore) => void,
): void {
  const on = (name: string, missing: string | undefined, start: StartStore): void =>
    describeWith(missing, name, () => define(name, start), defineSuite)
  describe(title, () => {
    on('on SQLite', undefined, onNetwork('sqlite'))
    on('on files', undefined, onFiles)
    on('on PostgreSQL', postgresqlMissing, onNetwork('postgresql'))
    on('on Redis', redisMissing, onNetwork('redis'))
  })
}

/** What ends after all tests of the suite, the last first. */
function closingsAfterAll(): Closings {
  const closings: Closings = []
  afterAll(async () => {
    for (const close of closings.reverse()) await close()
  })
  return closings
}

/** Defines a test on each storage that several processes can share. `closings` run after the tests on it. */
export function testOnEveryStore(title: string, act: (storage: object, closings: Closings) => Promise<void>): void {
  describeOnEveryStore(title, describe, (name, start) => {
    const closings = closingsAfterAll()
    test(name, async () => act(await start(closings), closings))
  })
}

/**
 * Defines a test for each scenario on each storage. The scenarios of a storage share its processes, because starting them
 * takes most of the time: each changes entries of its own. The storages run side by side, because they mostly wait until
 * processes read an entry again. They hash passwords cheaply: hashes of the same few would take a third of the CPU time.
 */
export function testServiceOnEveryStore(
  title: string,
  configuration: object,
  scenarios: Readonly<Record<string, (service: Service) => Promise<void>>>,
): void {
  const cheap = { GRANTRY_TEST_PASSWORDS: 'cheap' }
  let endCheapHashes: () => void
  beforeAll(() => {
    endCheapHashes = hashCheaply()
  })
  afterAll(() => endCheapHashes())
  describeOnEveryStore(title, describeSideBySide, (_, start) => {
    const closings = closingsAfterAll()
    let service: Service
    beforeAll(async () => {
      service = await inTurn(async () => startService(await start(closings), closings, configuration, cheap))
    })
    for (const [scenario, act] of Object.entries(scenarios)) test(scenario, () => act(service))
  })
}
