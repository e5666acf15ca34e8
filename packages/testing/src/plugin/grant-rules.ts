import { declaredParameters, type Grant } from '@grantry/core'
import { type Credentials, testClient } from '../test-provider.ts'
import { checkAuthorization } from './authorization-rules.ts'
import { type Bench, disabledClient, limitedClient, otherClient, publicClientId, reservedScope } from './bench.ts'
import type { GrantCase } from './cases.ts'
import { checkGuesses } from './guess-rules.ts'
import { checkParameters, checkRefusals, isSuccess, type ParameterTarget, seenIn } from './parameter-rules.ts'
import { inSetting, senderOf } from './setting.ts'
import type { Outgoing, Received, Sender } from './target.ts'
import { checkIssuers, checkSingleUse, checkStorageFailures } from './use-rules.ts'

interface GrantTarget extends ParameterTarget {
  readonly grant: Grant
  readonly grantCase: GrantCase
}

function targetOf(grant: Grant, grantCase: GrantCase): GrantTarget {
  const { grantType, params, scope = 'required', stored, refusalCode = 'invalid_grant' } = grant
  const { succeeds, singleUse = typeof succeeds === 'function', refused = [], public: isPublic = [] } = grantCase
  return {
    part: `grant ${grantType}`,
    grant,
    grantCase,
    singleUse,
    public: isPublic,
    kind: stored?.kind === 'refresh' ? undefined : stored?.kind,
    declared: declaredParameters(params),
    refused,
    refusedWith: refusalCode,
    uniform: true,
    // Also as another error of its own.
    refusesCredential: ({ error, reason }) => error === refusalCode || reason?.startsWith('plugin:') === true,
    sender: senderOf(testClient),
    async prepare(setting, { clientId, credentials }) {
      const parameters =
        typeof succeeds === 'function' ? await succeeds(setting.context({ clientId, credentials })) : succeeds
      return {
        endpoint: 'token',
        method: 'POST',
        body: 'form',
        parameters: {
          grant_type: grantType,
          ...(scope === 'required' && { scope: 'api1' }),
          ...(credentials === undefined && { client_id: clientId }),
          ...parameters,
        },
        as: credentials,
      }
    },
  }
}

const wordsOf = (scope: unknown): readonly string[] =>
  typeof scope === 'string' ? scope.split(' ').filter(Boolean) : []

/** Sends the request of the case. Returns whether it succeeds, so that the other rules make sense. */
async function checkSuccess(bench: Bench, { grant, grantCase, ...target }: GrantTarget) {
  const { findings } = bench
  const { part } = target
  return inSetting(bench, target, async (setting) => {
    const outgoing = await target.prepare(setting, target.sender)
    const response = await setting.send(outgoing)
    const { parameters } = outgoing
    const [result] = setting.probe.results
    const fromStored = grant.stored === undefined ? undefined : 'api1'
    const expected = grantCase.scope ?? (grant.scope === 'ignored' ? fromStored : parameters.scope)
    if (!isSuccess(response)) {
      const widened = expected && result?.scopes?.find((name) => !wordsOf(expected).includes(name))
      if (widened) findings.add('scope-escalation', part, `it returned the scope ${widened}`)
      else if (response.status !== 500) findings.add('success', part, seenIn(response))
      return { succeeds: false, subject: undefined }
    }
    const more = wordsOf(response.body?.scope).filter((name) => !wordsOf(expected).includes(name))
    if (expected !== undefined && more.length > 0) {
      findings.add('scope-escalation', part, `the response has the scope ${more.join(' ')}`)
    }
    if (grant.stored !== undefined) checkAuthorization(findings, part, result)
    return { succeeds: true, subject: result?.subject }
  })
}

async function checkClients(bench: Bench, target: GrantTarget): Promise<void> {
  const { findings } = bench
  const { part, grant, grantCase } = target
  const [clientId] = testClient

  const sendAs = (as: Credentials): Promise<Received> =>
    inSetting(bench, target, async (setting) => setting.send({ ...(await target.prepare(setting, target.sender)), as }))
  const isRefused = ({ status, body }: Received, expected: number, error: string): boolean =>
    status === expected && body?.error === error

  const wrong = await sendAs([clientId, 'wrong-secret'])
  if (!isRefused(wrong, 401, 'invalid_client')) findings.add('wrong-secret', part, seenIn(wrong))
  const disabled = await sendAs(disabledClient)
  if (!isRefused(disabled, 401, 'invalid_client')) findings.add('disabled-client', part, seenIn(disabled))
  const limited = await sendAs(limitedClient)
  if (!isRefused(limited, 400, 'unauthorized_client')) findings.add('client-without-grant', part, seenIn(limited))

  if (grantCase.boundToClient ?? grant.stored !== undefined) {
    await inSetting(bench, target, async (setting) => {
      const outgoing = await target.prepare(setting, target.sender)
      const foreign = await setting.send({ ...outgoing, as: otherClient })
      if (!isRefused(foreign, 400, target.refusedWith)) findings.add('foreign-client', part, seenIn(foreign))
      const accepted = await setting.send(outgoing)
      if (!isSuccess(accepted)) findings.add('foreign-client', part, `then, for its own client, ${seenIn(accepted)}`)
    })
  }
  if (grant.publicClients === true) {
    const sender: Sender = { clientId: publicClientId }
    const response = await inSetting(bench, target, async (setting) =>
      setting.send(await target.prepare(setting, sender)),
    )
    if (!isSuccess(response)) findings.add('public-client', part, seenIn(response))
  }
}

async function checkScopes(bench: Bench, target: GrantTarget): Promise<void> {
  const { findings } = bench
  const { part, grant, sender } = target
  if (grant.scope === 'ignored') return
  const sendWith = (scope: string): Promise<Received> =>
    inSetting(bench, target, async (setting) => {
      const outgoing: Outgoing = await target.prepare(setting, sender)
      return setting.send({ ...outgoing, parameters: { ...outgoing.parameters, scope } })
    })
  const isRefused = ({ body }: Received): boolean => body?.error === 'invalid_scope'

  const unknown = await sendWith('api1 unknown')
  if (!isRefused(unknown)) findings.add('unknown-scope', part, seenIn(unknown))
  const reserved = await sendWith(reservedScope)
  if (!isRefused(reserved)) findings.add('scope-not-allowed', part, seenIn(reserved))
  // The client may request it, but the stored grant of `authorize` and `issue` does not have it.
  const widened = grant.stored === undefined ? undefined : await sendWith('api2')
  if (widened !== undefined && !isRefused(widened)) findings.add('scope-escalation', part, seenIn(widened))
}

/** Checks that a user who has lost all rights gets nothing. */
async function checkUser(bench: Bench, target: GrantTarget, sub: string): Promise<void> {
  const { part, grant, sender } = target
  const isRefused = ({ status }: Received): boolean => status >= 400 && status < 500
  await inSetting(bench, target, async (setting) => {
    const outgoing = await target.prepare(setting, sender)
    setting.deactivateUsers()
    const response = await setting.send(outgoing)
    if (!isRefused(response)) bench.findings.add('inactive-user', part, seenIn(response))
  })
  if (grant.stored === undefined) return
  await inSetting(bench, target, async (setting) => {
    const outgoing = await target.prepare(setting, sender)
    await setting.provider.revoke({ subject: sub })
    const response = await setting.send(outgoing)
    if (!isRefused(response)) bench.findings.add('revoked-user', part, seenIn(response))
  })
}

export async function checkGrant(bench: Bench, grant: Grant, grantCase: GrantCase): Promise<void> {
  const target = targetOf(grant, grantCase)
  const { succeeds, subject } = await checkSuccess(bench, target)
  if (!succeeds) return
  await checkParameters(bench, target)
  await checkRefusals(bench, target)
  await checkGuesses(bench, target)
  await checkClients(bench, target)
  await checkScopes(bench, target)
  await checkSingleUse(bench, target, target.sender)
  await checkIssuers(bench, target, target.sender)
  await checkStorageFailures(bench, target, target.sender)
  if (subject !== undefined || grant.stored !== undefined) await checkUser(bench, target, subject?.sub ?? 'alice')
}
