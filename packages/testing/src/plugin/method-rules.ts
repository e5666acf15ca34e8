import type { ClientAuthentication, ClientOptions } from '@grantry/core'
import { sha256Of, testClient } from '../test-provider.ts'
import { type Bench, kitGrantType, otherClient, present } from './bench.ts'
import type { MethodCase, PreparedCredentials } from './cases.ts'
import { checkLength } from './guess-rules.ts'
import { hostile, isSuccess, seenIn } from './parameter-rules.ts'
import { inSetting, senderOf } from './setting.ts'
import type { Outgoing, Received, Sender, Setting, Target } from './target.ts'
import { checkIssuers, checkSingleUse, checkStorageFailures } from './use-rules.ts'

/** Parameters that are not credentials. */
const otherParameters: ReadonlySet<string> = new Set(['client_id', 'grant_type', 'scope'])

interface MethodTarget extends Target {
  readonly sender: Sender
  readonly client: ClientOptions
}

function clientOf({ accepts }: ClientAuthentication, { client }: MethodCase): ClientOptions {
  const secrets = accepts === undefined ? [{ sha256: sha256Of('method-client-secret') }] : []
  return {
    clientId: 'method-client',
    grantTypes: [kitGrantType],
    scopes: ['api1'],
    accessTokenFormat: 'reference',
    secrets,
    ...(present(client) as Partial<ClientOptions>),
  }
}

const outgoingOf = ({ form, headers, clientCertificate }: PreparedCredentials): Outgoing => ({
  endpoint: 'token',
  method: 'POST',
  body: 'form',
  parameters: { grant_type: kitGrantType, scope: 'api1', ...form },
  headers,
  clientCertificate,
})

function targetOf(method: ClientAuthentication, methodCase: MethodCase): MethodTarget {
  const client = clientOf(method, methodCase)
  return {
    part: `method ${method.method}`,
    singleUse: methodCase.singleUse === true,
    public: [],
    client,
    clients: [client],
    sender: { clientId: client.clientId },
    prepare: async (setting, sender) => outgoingOf(await methodCase.authenticate(setting.context(sender))),
  }
}

const isRefused = ({ status }: Received): boolean => status === 400 || status === 401

/** The value with another character in the middle. */
export function altered(value: string): string {
  const middle = Math.floor(value.length / 2)
  return `${value.slice(0, middle)}${value[middle] === 'A' ? 'B' : 'A'}${value.slice(middle + 1)}`
}

/** Returns the requests that differ from a valid one in one credential. */
function changesOf(outgoing: Outgoing): readonly (readonly [what: string, change: Partial<Outgoing>])[] {
  const { parameters, headers = {}, clientCertificate } = outgoing
  const fields = Object.entries(parameters).filter(([name]) => !otherParameters.has(name))
  const inForm = fields.flatMap(([name, value]) =>
    [undefined, altered(String(value)), ...hostile].map(
      (changed) => [name, { parameters: { ...parameters, [name]: changed } }] as const,
    ),
  )
  const inHeader = Object.entries(headers).flatMap(([name, value]) =>
    ['', altered(value), 'Basic', 'x'.repeat(300), 'a.b.c'].map(
      (changed) => [name, { headers: { ...headers, [name]: changed } }] as const,
    ),
  )
  const inConnection =
    clientCertificate === undefined
      ? []
      : [undefined, { ...clientCertificate, der: '' }].map(
          (changed) => ['the certificate', { clientCertificate: changed }] as const,
        )
  const withOtherClient = { parameters: { ...parameters, client_id: otherClient[0] } }
  return [...inForm, ...inHeader, ...inConnection, ['client_id', withOtherClient]]
}

async function checkChanges(bench: Bench, target: MethodTarget): Promise<void> {
  const sample = await inSetting(bench, target, (setting) => target.prepare(setting, target.sender))
  for (const index of changesOf(sample).keys()) {
    // New credentials for each, because a replay would be refused anyway.
    await inSetting(bench, target, async (setting) => {
      const outgoing = await target.prepare(setting, target.sender)
      const [what, change] = changesOf(outgoing)[index] ?? ['nothing', {}]
      const response = await setting.send({ ...outgoing, ...change })
      if (isRefused(response) || response.status === 500) return
      bench.findings.add('changed-credentials', target.part, `with another value of ${what}, ${seenIn(response)}`)
    })
  }
}

async function checkClients(bench: Bench, target: MethodTarget, methodCase: MethodCase): Promise<void> {
  const { findings } = bench
  const { part, client, sender } = target
  const sendTo = async (setting: Setting, by: Sender): Promise<Received> =>
    setting.send(await target.prepare(setting, by))

  const disabledTarget: Target = { ...target, clients: [{ ...client, enabled: false }] }
  const disabled = await inSetting(bench, disabledTarget, (setting) => sendTo(setting, sender))
  if (disabled.status !== 401) findings.add('disabled-client', part, seenIn(disabled))
  const unknown = await inSetting(bench, { ...target, clients: [] }, (setting) => sendTo(setting, sender))
  if (unknown.status !== 401) findings.add('unknown-client', part, seenIn(unknown))
  // The client of the kit has a secret only.
  const unconfigured = await inSetting(bench, target, (setting) => sendTo(setting, senderOf(testClient)))
  if (!isRefused(unconfigured)) findings.add('client-without-method', part, seenIn(unconfigured))

  for (const [index, credentialsOf] of (methodCase.refused ?? []).entries()) {
    const response = await inSetting(bench, target, async (setting) =>
      setting.send(outgoingOf(await credentialsOf(setting.context(sender)))),
    )
    if (response.status !== 401 && response.status !== 500) {
      findings.add('refusal', part, `for refused[${index}], ${seenIn(response)}`)
    }
  }
}

/** Checks all rules of a method of client authentication. */
export async function checkMethod(bench: Bench, method: ClientAuthentication, methodCase: MethodCase): Promise<void> {
  const target = targetOf(method, methodCase)
  const { part, sender } = target
  const { response, outgoing, announced } = await inSetting(bench, target, async (setting) => {
    const outgoing = await target.prepare(setting, sender)
    const { token_endpoint_auth_methods_supported: announced } = setting.provider.metadata
    return { response: await setting.send(outgoing), outgoing, announced }
  })
  const fields = Object.keys(outgoing.parameters)
  const undeclared = fields.find((name) => !otherParameters.has(name) && !method.consumes.includes(name))
  if (undeclared !== undefined) bench.findings.add('undeclared-field', part, `it does not list ${undeclared}`)
  if (!Array.isArray(announced) || !announced.includes(method.method)) {
    bench.findings.add('metadata', part, `token_endpoint_auth_methods_supported is ${JSON.stringify(announced)}`)
  }
  if (!isSuccess(response)) {
    if (response.status !== 500) bench.findings.add('success', part, seenIn(response))
    return
  }
  if ('unguessable' in method && method.unguessable) checkLength(bench, part, outgoing, otherParameters)
  await checkChanges(bench, target)
  await checkClients(bench, target, methodCase)
  await checkSingleUse(bench, target, sender)
  await checkIssuers(bench, target, sender)
  await checkStorageFailures(bench, target, sender)
}
