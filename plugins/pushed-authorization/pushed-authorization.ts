import {
  type Client,
  configurationObject,
  defineEndpoint,
  defineFields,
  type MembersOf,
  member,
  type OptionsOf,
  parseConfiguration,
} from '@grantry/core'
import * as v from 'valibot'
import { type AuthorizationFeature, checkPushedRequest } from '../authorization-endpoint/authorization-endpoint.ts'
import { wholeSeconds } from '../shared/config-schema.ts'
import { findPushed, isPushedUri, storePushed, usePushed } from './pushed-records.ts'

declare module '@grantry/core' {
  interface PluginEndpoints {
    pushedAuthorization: true
  }
  interface ClientMembers extends MembersOf<typeof clientMembers> {}
}

const flag = v.boolean('must be true or false')

const clientMembers = {
  /** Whether the authorization endpoint refuses requests of the client that it has not pushed. Default: `false`. */
  requirePushedAuthorizationRequests: member(v.optional(flag), {
    title: 'Require pushed requests',
    text: 'It sends each authorization request to this server first, and not through the browser.',
    group: 'security',
  }),
}

export const pushedAuthorizationSchema = configurationObject({
  /** Whether every client must push its requests. Default: `false`. */
  required: v.optional(flag, false),
  /** Seconds for which the `request_uri` is valid, less than 600 (FAPI 2.0 section 5.3.2.2, 13). Default: 60. */
  lifetime: v.optional(wholeSeconds(5, 599), 60),
})

export type PushedAuthorizationOptions = OptionsOf<typeof pushedAuthorizationSchema>

/**
 * Pushed authorization requests: a client sends its request to the provider, and the browser carries only a reference.
 * Pass it to `authorizationEndpoint({ features })`.
 *
 * @throws TypeError when an option is malformed.
 * @see RFC 9126
 */
export function pushedAuthorization(options: PushedAuthorizationOptions = {}): AuthorizationFeature {
  const { required, lifetime } = parseConfiguration(pushedAuthorizationSchema, options, 'pushedAuthorization()')

  const endpoint = defineEndpoint({
    name: 'pushedAuthorization',
    path: '/connect/par',
    metadataName: 'pushed_authorization_request_endpoint',
    methods: ['POST'],
    caller: 'client',
    cors: 'clients',
    // RFC 9449 section 10.1: the proof binds the code to a key. A repeated proof gets no URI, so what was stored is of no use.
    readsProofs: 'before_reply',
    params: v.record(v.string(), v.string()),
    async handle({ caller, params: received, confirmation, request }, kit) {
      if (received.request_uri !== undefined) {
        throw kit.refuse('invalid_request', 'The parameter request_uri cannot be pushed', 'request_uri')
      }
      const [clientEpoch, params] = await Promise.all([
        kit.epochOfClient(caller.clientId),
        checkPushedRequest(received, caller, confirmation, kit),
      ])
      const uri = await storePushed(kit, { caller, request }, { params, confirmation, clientEpoch }, lifetime)
      return { status: 201, json: { request_uri: uri, expires_in: lifetime } }
    },
  })

  const fields = defineFields({
    client: clientMembers,
    clientMetadata: { require_pushed_authorization_requests: 'requirePushedAuthorizationRequests' },
    ...(required && { metadata: { require_pushed_authorization_requests: true } }),
  })

  return {
    parts: () => [fields, endpoint],
    pushed: {
      includes: isPushedUri,
      isRequired: ({ requirePushedAuthorizationRequests }: Client) =>
        required || requirePushedAuthorizationRequests === true,
      find: findPushed,
      use: (kit, uri) => usePushed(kit, uri, lifetime),
    },
  }
}
