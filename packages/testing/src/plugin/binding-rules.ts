import type { ClientOptions, Json, TokenBinding } from '@grantry/core'
import { sha256Of } from '../test-provider.ts'
import { type Bench, kitGrantType, present } from './bench.ts'
import type { BindingCase, ProvingRequest } from './cases.ts'
import { altered } from './method-rules.ts'
import { hostile, isSuccess, seenIn } from './parameter-rules.ts'
import { inSetting } from './setting.ts'
import type { Outgoing, Received, Sender, Setting, Target } from './target.ts'
import { checkIssuers, checkSingleUse, checkStorageFailures } from './use-rules.ts'

/** The headers or the certificate that prove a key. */
type Proof = Pick<Outgoing, 'headers' | 'clientCertificate'>
type Key = 'first' | 'second'

const sender: Sender = { clientId: 'binding-client', credentials: ['binding-client', 'binding-client-secret'] }

const clientOf = ({ client }: BindingCase): ClientOptions => ({
  clientId: sender.clientId,
  secrets: [{ sha256: sha256Of('binding-client-secret') }],
  grantTypes: [kitGrantType],
  scopes: ['openid', 'api1'],
  accessTokenFormat: 'reference',
  ...(present(client) as Partial<ClientOptions>),
})

/** The requests of a binding. */
interface BindingTarget extends Target {
  /** A request for tokens with this proof. */
  requestTokens(proof: Proof): Outgoing
  /** Proves a key for a request for tokens. */
  proveTo(setting: Setting, key: Key, prove?: BindingCase['prove']): Promise<Proof>
  /** Proves a key where an access token is presented. */
  proveUse(setting: Setting, key: Key, accessToken: string): Promise<Proof>
}

function targetOf({ member }: TokenBinding, bindingCase: BindingCase): BindingTarget {
  const urlOf = ({ provider }: Setting, endpoint: string): string => `${provider.issuer}/${endpoint}`
  async function proofOf(setting: Setting, request: ProvingRequest, prove = bindingCase.prove): Promise<Proof> {
    const headers = await prove(request, setting.context(sender))
    return { headers, clientCertificate: bindingCase.clientCertificate?.(request) }
  }
  const proveTo: BindingTarget['proveTo'] = (setting, key, prove) =>
    proofOf(setting, { method: 'POST', url: urlOf(setting, 'token'), accessToken: undefined, key }, prove)
  const requestTokens = (proof: Proof): Outgoing => ({
    endpoint: 'token',
    method: 'POST',
    body: 'form',
    parameters: { grant_type: kitGrantType, scope: 'openid api1' },
    ...proof,
    as: sender.credentials,
  })
  return {
    part: `binding ${member}`,
    singleUse: bindingCase.singleUse !== false,
    public: [],
    clients: [clientOf(bindingCase)],
    requestTokens,
    proveTo,
    proveUse: (setting, key, accessToken) =>
      proofOf(setting, { method: 'GET', url: urlOf(setting, 'userinfo'), accessToken, key }),
    prepare: async (setting) => requestTokens(await proveTo(setting, 'first')),
  }
}

/** Returns the key that a token is bound to. */
async function keyOf({ provider }: Setting, { body }: Received, member: string): Promise<Json | undefined> {
  const { claims } = await provider.inspect(String(body?.access_token))
  return (claims.cnf as Readonly<Record<string, Json>> | undefined)?.[member]
}

/** Checks that tokens are bound to the proved key. Returns whether the other rules make sense. */
async function checkKeys(bench: Bench, { member, scheme = 'Bearer' }: TokenBinding, target: BindingTarget) {
  const add = (seen: string): void => bench.findings.add('bound-token', target.part, seen)
  return inSetting(bench, target, async (setting) => {
    const requestWith = async (proof: Proof) => setting.send(target.requestTokens(proof))
    const responses: Received[] = []
    for (const key of ['first', 'first', 'second'] as const) {
      responses.push(await requestWith(await target.proveTo(setting, key)))
    }
    const refused = responses.find((response) => !isSuccess(response))
    if (refused !== undefined) {
      if (refused.status !== 500) bench.findings.add('success', target.part, seenIn(refused))
      return false
    }
    const [first, again, second] = await Promise.all(responses.map((response) => keyOf(setting, response, member)))
    const type: unknown = responses[0]?.body?.token_type
    if (first === undefined) add('the token was not bound')
    else if (first !== again) add('a second proof of the same key had another result')
    else if (first === second) add('a proof of another key had the same result')
    if (first !== undefined && type !== scheme) add(`the token_type was ${JSON.stringify(type)}`)
    const without = await requestWith({})
    if (isSuccess(without) && (await keyOf(setting, without, member)) !== undefined) {
      add('the token of a request without a proof was bound')
    }
    return first !== undefined
  })
}

/** Checks that a token cannot be used without a proof of its key for this request. */
async function checkUse(bench: Bench, { scheme = 'Bearer' }: TokenBinding, target: BindingTarget): Promise<void> {
  const { findings } = bench
  const add = (seen: string): void => findings.add('stolen-token', target.part, seen)
  await inSetting(bench, target, async (setting) => {
    const issue = async (): Promise<string> => {
      const response = await setting.send(target.requestTokens(await target.proveTo(setting, 'first')))
      return String(response.body?.access_token)
    }
    const use = (token: string, { headers, clientCertificate }: Proof): Promise<Received> =>
      setting.send({
        endpoint: 'userinfo',
        method: 'GET',
        body: 'query',
        parameters: {},
        headers: { ...headers, authorization: `${scheme} ${token}` },
        clientCertificate,
      })
    const [token, another] = [await issue(), await issue()]
    const proof = await target.proveUse(setting, 'first', token)
    const accepted = await use(token, proof)
    if (!isSuccess(accepted)) {
      if (accepted.status !== 500) findings.add('success', target.part, `with a proof at userinfo, ${seenIn(accepted)}`)
      return
    }
    const stolen: readonly (readonly [what: string, proof: Proof])[] = [
      ['without a proof', {}],
      ['with a proof of another key', await target.proveUse(setting, 'second', token)],
      ...(target.singleUse
        ? ([
            ['with a proof that was used', proof],
            ['with a proof for another token', await target.proveUse(setting, 'first', another)],
            ['with a proof for the token endpoint', await target.proveTo(setting, 'first')],
          ] as const)
        : []),
    ]
    for (const [what, stolenProof] of stolen) {
      const response = await use(token, stolenProof)
      if (response.status !== 401 && response.status !== 500) add(`${what}, ${seenIn(response)}`)
    }
  })
}

/** Checks proofs that differ from a valid one. */
async function checkChanges(bench: Bench, target: BindingTarget, { refused = [] }: BindingCase): Promise<void> {
  await inSetting(bench, target, async (setting) => {
    const names = Object.keys((await target.proveTo(setting, 'first')).headers ?? {})
    const values = [altered, ...hostile.map((value) => () => value), (proof: string) => `${proof}, ${proof}`]
    for (const name of names) {
      for (const change of values) {
        const proof = await target.proveTo(setting, 'first')
        const value = change(proof.headers?.[name] ?? '')
        // Not a header value.
        if (!/^[\x20-\x7E]*$/u.test(value)) continue
        const response = await setting.send(
          target.requestTokens({ ...proof, headers: { ...proof.headers, [name]: value } }),
        )
        if (response.status === 500 || !isSuccess(response)) continue
        bench.findings.add('changed-proof', target.part, `with another value of ${name}, ${seenIn(response)}`)
      }
    }
    for (const [index, prove] of refused.entries()) {
      const response = await setting.send(target.requestTokens(await target.proveTo(setting, 'first', prove)))
      if (isSuccess(response)) bench.findings.add('refusal', target.part, `for refused[${index}], ${seenIn(response)}`)
    }
  })
}

/** Checks all rules of a token binding. */
export async function checkBinding(bench: Bench, binding: TokenBinding, bindingCase: BindingCase): Promise<void> {
  const target = targetOf(binding, bindingCase)
  if (!(await checkKeys(bench, binding, target))) return
  await checkUse(bench, binding, target)
  await checkChanges(bench, target, bindingCase)
  await checkSingleUse(bench, target, sender)
  await checkIssuers(bench, target, sender)
  await checkStorageFailures(bench, target, sender)
}
