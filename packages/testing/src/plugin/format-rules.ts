import type { ResponseFormat } from '@grantry/core'
import { testClient } from '../test-provider.ts'
import { api, type Bench } from './bench.ts'
import { endpointTarget } from './endpoint-rules.ts'
import { seenIn } from './parameter-rules.ts'
import { inSetting, senderOf } from './setting.ts'
import type { Outgoing, Target } from './target.ts'
import { checkStorageFailures } from './use-rules.ts'

/** A request to introspection, which needs no case. */
const introspection: Target['prepare'] = async (setting, sender) => ({
  endpoint: 'introspection',
  method: 'POST',
  body: 'form',
  parameters: { token: (await setting.context(sender).issue('api1')).access_token },
  as: api,
})

/** Returns how to send a request that succeeds; `undefined` without a case. */
function prepareOf({ cases, endpoints }: Bench, name: string): Target['prepare'] | undefined {
  if (name === 'introspection') return introspection
  const endpoint = endpoints.find((candidate) => candidate.name === name)
  const endpointCase = cases.endpoints?.[name]
  return endpoint && endpointCase && endpointTarget(endpoint, endpointCase).prepare
}

/** Checks all rules of a response format. */
export async function checkFormat(bench: Bench, format: ResponseFormat): Promise<void> {
  const { findings } = bench
  const { endpoint, mediaType, signingAlgorithms } = format
  const part = `response format ${mediaType}`
  const prepare = prepareOf(bench, endpoint)
  if (prepare === undefined) {
    findings.add('cases', part, `the endpoint ${endpoint} has none`)
    return
  }
  const sender = senderOf(testClient)
  const withAccept = (outgoing: Outgoing): Outgoing => ({
    ...outgoing,
    headers: { ...outgoing.headers, accept: mediaType },
  })
  const target: Target = {
    part,
    singleUse: false,
    public: [],
    prepare: async (setting, by) => withAccept(await prepare(setting, by)),
  }
  await inSetting(bench, target, async (setting) => {
    const problem = (seen: string): void => findings.add('response-format', part, seen)
    const outgoing = await target.prepare(setting, sender)
    const plain = await setting.send({ ...outgoing, headers: { ...outgoing.headers, accept: 'application/json' } })
    const type = plain.headers.get('content-type')
    if (type?.startsWith('application/json') !== true) problem(`without it, the media type was ${type}`)
    const asked = await setting.send(outgoing)
    const askedType = asked.headers.get('content-type')
    if (asked.status !== 500 && askedType !== mediaType) problem(`${seenIn(asked)} ${askedType}`)
    const [actual, expected] = [asked, plain].map(({ headers }) => headers.get('cache-control'))
    if (actual !== expected && asked.status !== 500) problem(`cache-control was ${actual}, not ${expected}`)
    const refused = await setting.send({ ...outgoing, as: ['api1', 'wrong-secret'] })
    const refusedType = refused.headers.get('content-type')
    if (refused.status >= 400 && refusedType?.startsWith('application/json') === false) {
      problem(`an error had the media type ${refusedType}`)
    }
    const algorithms = signingAlgorithms && setting.provider.metadata[signingAlgorithms]
    if (signingAlgorithms !== undefined && !Array.isArray(algorithms)) {
      findings.add('metadata', part, `${signingAlgorithms} is ${JSON.stringify(algorithms)}`)
    }
  })
  await checkStorageFailures(bench, target, sender)
}
