import type { AtomicDriver } from '@grantry/core'
import type { Bench } from './bench.ts'
import { isSuccess, seenIn } from './parameter-rules.ts'
import { createShared, inSetting, openSetting, type Shared } from './setting.ts'
import type { Outgoing, Received, Sender, Target } from './target.ts'
import { createFailingDriver, inOrder, withLatency } from './test-drivers.ts'

const concurrentRequests = 20
/** More operations than a request has. */
const maxOperations = 60
/** Seconds until a device may poll again. */
const pause = 6

const countSuccesses = (responses: readonly Received[]): number => responses.filter(isSuccess).length

/** Sends one request many times at the same time, to two providers as in two processes, and then once more. */
async function race(bench: Bench, target: Target, sender: Sender, prepare: (driver: AtomicDriver) => AtomicDriver) {
  const shared = createShared((driver) => withLatency(prepare(driver)))
  const first = await openSetting(bench, target, { shared })
  const second = await openSetting(bench, target, { shared })
  const outgoing = await target.prepare(first, sender)
  const responses = await Promise.all(
    Array.from({ length: concurrentRequests }, (_, index) => (index % 2 === 0 ? first : second).send(outgoing)),
  )
  const successes = countSuccesses(responses)
  if (successes !== 1) bench.findings.add('concurrent-use', target.part, `${successes} of them succeeded`)
  shared.clock.advance(pause)
  const late = await second.send(outgoing)
  if (isSuccess(late)) bench.findings.add('replay', target.part, 'a later request with it succeeded')
  first.finish()
  second.finish()
}

/** Checks that a credential can be used once. */
export async function checkSingleUse(bench: Bench, target: Target, sender: Sender): Promise<void> {
  if (!target.singleUse) return
  await Promise.all([race(bench, target, sender, inOrder), race(bench, target, sender, (driver) => driver)])
  await inSetting(bench, target, async (setting) => {
    const outgoing = await target.prepare(setting, sender)
    await setting.send(outgoing)
    if (isSuccess(await setting.send(outgoing))) {
      bench.findings.add('replay', target.part, 'a second request with it succeeded')
    }
  })
}

/** Checks that two providers with different issuers can share a storage, and an instance of the plugin. */
export async function checkIssuers(bench: Bench, target: Target, sender: Sender): Promise<void> {
  const shared = createShared()
  const instance = bench.instance()
  const first = await openSetting(bench, target, { shared, instance, issuer: 'https://one.example.com' })
  const second = await openSetting(bench, target, { shared, instance, issuer: 'https://other.example.com' })
  const outgoing = await target.prepare(first, sender)
  const atSecond = await second.send(outgoing)
  const atFirst = await first.send(outgoing)
  if (!isSuccess(atFirst)) {
    const tried = isSuccess(atSecond) ? 'succeeded' : 'was refused'
    bench.findings.add(
      'two-issuers',
      target.part,
      `after the same request to another provider ${tried}, ${seenIn(atFirst)}`,
    )
  }
  first.finish()
  second.finish()
}

interface FailureRun {
  readonly hasFailed: boolean
  readonly response: Received
  /** The number of times that the request succeeded, with two repetitions. */
  readonly successes: number
}

async function runWithFailure(
  bench: Bench,
  target: Target,
  sender: Sender,
  [number, moment]: readonly [number, 'before' | 'after'],
): Promise<FailureRun> {
  const items = createShared()
  const failing = createFailingDriver(items.driver)
  const shared: Shared = { ...items, driver: failing.driver }
  return inSetting(
    bench,
    target,
    async (setting) => {
      const outgoing: Outgoing = await target.prepare(setting, sender)
      failing.fail(number, moment)
      const response = await setting.send(outgoing)
      const hasFailed = failing.disarm()
      const responses = [response]
      for (let retry = 0; retry < 2; retry += 1) {
        shared.clock.advance(pause)
        responses.push(await setting.send(outgoing))
      }
      return { hasFailed, response, successes: countSuccesses(responses) }
    },
    { shared },
  )
}

/** Lets each operation of the storage fail in turn. */
export async function checkStorageFailures(bench: Bench, target: Target, sender: Sender): Promise<void> {
  const { part, singleUse } = target
  for (const moment of ['before', 'after'] as const) {
    for (let number = 1; number <= maxOperations; number += 1) {
      const { hasFailed, response, successes } = await runWithFailure(bench, target, sender, [number, moment])
      if (!hasFailed) break
      // The core tolerates some failures, such as that of a cache.
      const isUnavailable = response.status === 503 && response.body?.error === 'temporarily_unavailable'
      const at = `operation ${number} failed`
      if (!isSuccess(response) && !isUnavailable && response.status !== 500) {
        bench.findings.add('storage-failure', part, `when ${at}, ${seenIn(response)}`)
      }
      if (singleUse && successes > 1) {
        bench.findings.add('retry-after-failure', part, `when ${at}, ${successes} of 3 requests succeeded`)
      }
    }
  }
}
