import { type Callers, declaredParameters, type Endpoint } from '@grantry/core'
import { testClient } from '../test-provider.ts'
import { api, type Bench, disabledClient } from './bench.ts'
import type { EndpointCase } from './cases.ts'
import { checkGuesses } from './guess-rules.ts'
import { checkParameters, checkRefusals, isSuccess, type ParameterTarget, seenIn } from './parameter-rules.ts'
import { inSetting, senderOf } from './setting.ts'
import type { Outgoing, Received, Setting } from './target.ts'
import { checkIssuers, checkSingleUse, checkStorageFailures } from './use-rules.ts'

type Authentication = Pick<Outgoing, 'as' | 'headers'>

async function authenticationOf({ caller, scope = '' }: Endpoint, setting: Setting): Promise<Authentication> {
  if (caller === 'client') return { as: testClient }
  if (caller === 'scope') return { as: api }
  if (caller === 'anyone') return {}
  const wanted = typeof scope === 'string' ? scope : scope[0]
  const { access_token: token } = await setting.context(senderOf(testClient)).issue(wanted)
  return { headers: { authorization: `Bearer ${token}` } }
}

const bodyOf = (method: string, { body = 'form' }: Endpoint): Outgoing['body'] =>
  method === 'GET' || method === 'DELETE' ? 'query' : body

export function endpointTarget(endpoint: Endpoint, endpointCase: EndpointCase): ParameterTarget {
  const { name, params, methods } = endpoint
  const {
    succeeds,
    singleUse = false,
    refused = [],
    public: isPublic = [],
    method = methods[0] ?? 'POST',
  } = endpointCase
  const sender = senderOf(testClient)
  return {
    part: `endpoint ${name}`,
    singleUse,
    public: isPublic,
    declared: params === undefined ? [] : declaredParameters(params),
    refused,
    refusedWith: 'invalid_request',
    uniform: false,
    // Refusals of the core describe the request, or limit it.
    refusesCredential: ({ reason }) => reason?.startsWith('plugin:') === true,
    sender,
    async prepare(setting) {
      const parameters = typeof succeeds === 'function' ? await succeeds(setting.context(sender)) : succeeds
      const authentication = await authenticationOf(endpoint, setting)
      return {
        endpoint: name,
        method,
        body: bodyOf(method, endpoint),
        parameters,
        as: authentication.as,
        headers: { ...endpointCase.headers, ...authentication.headers },
      }
    },
  }
}

/** Callers who must be refused with 401, by rule. */
const wrongCallers: Readonly<
  Record<keyof Callers, readonly (readonly ['wrong-secret' | 'disabled-client', Authentication])[]>
> = {
  client: [
    ['wrong-secret', { as: [testClient[0], 'wrong-secret'] }],
    ['disabled-client', { as: disabledClient }],
  ],
  scope: [['wrong-secret', { as: [api[0], 'wrong-secret'] }]],
  token: [['wrong-secret', { headers: { authorization: 'Bearer wrong-token' } }]],
  anyone: [],
}

async function checkCallers(bench: Bench, endpoint: Endpoint, target: ParameterTarget): Promise<void> {
  for (const [rule, authentication] of wrongCallers[endpoint.caller]) {
    const response = await inSetting(bench, target, async (setting) =>
      setting.send({ ...(await target.prepare(setting, target.sender)), ...authentication }),
    )
    if (response.status !== 401) bench.findings.add(rule, target.part, seenIn(response))
  }
}

/** Checks that the endpoint is announced if, and only if, it is enabled. */
async function checkMetadata(bench: Bench, endpoint: Endpoint, target: ParameterTarget): Promise<void> {
  const { name, metadataName } = endpoint
  const { findings } = bench
  const path = await inSetting(bench, target, async ({ provider }) => {
    const { [name]: at } = provider.paths
    const announced = metadataName === undefined ? undefined : provider.metadata[metadataName]
    if (metadataName !== undefined && (typeof announced !== 'string' || at === undefined || !announced.endsWith(at))) {
      findings.add('metadata', target.part, `${metadataName} is ${JSON.stringify(announced)}`)
    }
    return at
  })
  const disabled = async (setting: Setting): Promise<void> => {
    const metadata = JSON.stringify(setting.provider.metadata)
    const response = await setting.send(await target.prepare(setting, target.sender))
    if (response.status !== 404) findings.add('disabled-endpoint', target.part, seenIn(response))
    if (path !== undefined && metadata.includes(`${path}"`)) {
      findings.add('disabled-endpoint', target.part, 'the discovery document still contains its URL')
    }
  }
  await inSetting(bench, target, disabled, { endpoints: { [name]: false } })
}

export async function checkEndpoint(bench: Bench, endpoint: Endpoint, endpointCase: EndpointCase): Promise<void> {
  const target = endpointTarget(endpoint, endpointCase)
  await checkMetadata(bench, endpoint, target)
  const response: Received = await inSetting(bench, target, async (setting) =>
    setting.send(await target.prepare(setting, target.sender)),
  )
  if (!isSuccess(response)) {
    if (response.status !== 500) bench.findings.add('success', target.part, seenIn(response))
    return
  }
  await checkParameters(bench, target)
  await checkRefusals(bench, target)
  await checkGuesses(bench, target)
  await checkCallers(bench, endpoint, target)
  await checkSingleUse(bench, target, target.sender)
  await checkIssuers(bench, target, target.sender)
  await checkStorageFailures(bench, target, target.sender)
}
