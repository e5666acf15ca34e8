import type { Bench } from './bench.ts'
import { keyOf } from './keys.ts'
import type { Operations } from './operations.ts'
import type { Proof } from './proof.ts'
import { isRefusal, openRedeemer, type Redeemer, shownAnswer } from './redeemer.ts'
import { shown } from './same-value.ts'

const record = '{"version":1,"expiresAt":4000000000,"value":{"kind":"code","issuer":"https://id.example.com"}}'

/** Values that a torn write, another release, another program or a faulty driver may leave under a key of the core. */
const planted: readonly string[] = [
  'garbage',
  record.replace('"version":1', '"version":2'),
  record.slice(0, 30),
  record.slice(0, -1),
  record,
  '{"name":"Error","message":"EIO","stack":"Error: EIO"}',
  'Error: EIO',
  '{}',
  '[]',
  '1',
]

/**
 * Writes the text under the key. Returns `false` when the driver rejects it, which it may for text that is not a
 * record.
 */
const plant = async (bench: Bench, driver: Operations, key: string, text: string): Promise<boolean> =>
  (await bench.attempt(() => driver.set(key, text, 600))) !== undefined

async function assertAbsent(bench: Bench, driver: Operations, redeemer: Redeemer, text: string): Promise<void> {
  const [code, refresh, access] = ['code', 'refresh', 'access'].map((kind) => `${kind}-${crypto.randomUUID()}`) as [
    string,
    string,
    string,
  ]
  for (const [credential, use] of [
    [code, () => redeemer.redeem(code)],
    [refresh, () => redeemer.refresh(refresh)],
  ] as const) {
    const kind = credential.slice(0, credential.indexOf('-'))
    if (!(await plant(bench, driver, keyOf(kind, credential), text))) continue
    const answer = await use()
    if (isRefusal(answer)) continue
    bench.broken(
      `${shown(text)} under a ${kind} key should count as absent, but the response was ${shownAnswer(answer)}`,
    )
  }
  if (!(await plant(bench, driver, keyOf('access', access), text))) return
  const { status, body } = await redeemer.introspect(access)
  if (status !== 200 || body.active !== false) {
    bench.broken(`${shown(text)} under an access key should not be an active token, but the response was ${status}`)
  }
}

async function assertSpent(bench: Bench, driver: Operations, redeemer: Redeemer, text: string): Promise<void> {
  const [code, token] = [await redeemer.code(), await redeemer.refreshToken()]
  for (const [kind, credential, use] of [
    ['code', code, () => redeemer.redeem(code)],
    ['refresh', token, () => redeemer.refresh(token)],
  ] as const) {
    if (!(await plant(bench, driver, keyOf(`spent:${kind}`, credential), text))) continue
    const answer = await use()
    if (isRefusal(answer)) continue
    bench.broken(`${shown(text)} under a spent key should count as spent, but the response was ${shownAnswer(answer)}`)
  }
}

export const plantedValues: readonly Proof[] = [
  {
    name: 'grants nothing for foreign values',
    waits: true,
    async examine(bench) {
      const driver = await bench.open()
      const redeemer = await openRedeemer(driver.driver)
      for (const text of planted) {
        await assertAbsent(bench, driver, redeemer, text)
        await assertSpent(bench, driver, redeemer, text)
      }
    },
  },
]
