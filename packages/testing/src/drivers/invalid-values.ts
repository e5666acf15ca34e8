import type { Operations } from './operations.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { describeResponse, isRefusal, openRedeemer, type Redeemer } from './redeemer.ts'
import { abbreviate, keyOf } from './sample-records.ts'

const record = '{"version":1,"expiresAt":4000000000,"value":{"kind":"code","issuer":"https://id.example.com"}}'

/** Values that a torn write, another release, another program or a faulty driver may leave under a key of the core. */
const invalidTexts: readonly string[] = [
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
const writeInvalid = async (context: ProofContext, driver: Operations, key: string, text: string): Promise<boolean> =>
  (await context.attempt(() => driver.set(key, text, 600))) !== undefined

async function assertAbsent(
  context: ProofContext,
  driver: Operations,
  redeemer: Redeemer,
  text: string,
): Promise<void> {
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
    if (!(await writeInvalid(context, driver, keyOf(kind, credential), text))) continue
    const response = await use()
    if (isRefusal(response)) continue
    context.fail(
      `${abbreviate(text)} under a ${kind} key should count as absent, but the response was ${describeResponse(response)}`,
    )
  }
  if (!(await writeInvalid(context, driver, keyOf('access', access), text))) return
  const { status, body } = await redeemer.introspect(access)
  if (status !== 200 || body.active !== false) {
    context.fail(
      `${abbreviate(text)} under an access key should not be an active token, but the response was ${status}`,
    )
  }
}

async function assertSpent(context: ProofContext, driver: Operations, redeemer: Redeemer, text: string): Promise<void> {
  const [code, token] = [await redeemer.code(), await redeemer.refreshToken()]
  for (const [kind, credential, use] of [
    ['code', code, () => redeemer.redeem(code)],
    ['refresh', token, () => redeemer.refresh(token)],
  ] as const) {
    if (!(await writeInvalid(context, driver, keyOf(`spent:${kind}`, credential), text))) continue
    const response = await use()
    if (isRefusal(response)) continue
    context.fail(
      `${abbreviate(text)} under a spent key should count as spent, but the response was ${describeResponse(response)}`,
    )
  }
}

export const invalidValues: readonly Proof[] = [
  {
    name: 'grants nothing for foreign values',
    waits: true,
    async run(context) {
      const driver = await context.open()
      const redeemer = await openRedeemer(driver.driver)
      for (const text of invalidTexts) {
        await assertAbsent(context, driver, redeemer, text)
        await assertSpent(context, driver, redeemer, text)
      }
    },
  },
]
