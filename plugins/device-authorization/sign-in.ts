import {
  configurationObject,
  type EndpointKit,
  type EndpointRequest,
  type OptionsOf,
  parseConfiguration,
} from '@grantry/core'
import {
  type AuthorizationFeature,
  type InteractionServices,
  type PageClient,
  pageClient,
} from '../authorization-endpoint/authorization-endpoint.ts'
import { deviceAuthorizationSchema } from './device-options.ts'
import type { DevicePage } from './device-page-options.ts'
import { type DevicePages, devicePagesSchema, rendererOf } from './device-pages.ts'
import { deviceParts } from './device-parts.ts'
import { typedUserCode } from './user-code.ts'

const optionsSchema = configurationObject({
  lifetime: deviceAuthorizationSchema.entries.lifetime,
  interval: deviceAuthorizationSchema.entries.interval,
  guesses: deviceAuthorizationSchema.entries.guesses,
  pages: devicePagesSchema,
})

export type DeviceSignInOptions = OptionsOf<typeof optionsSchema>

const path = '/connect/device'

function pageOf(
  pages: DevicePages,
  { sessions, suffices }: InteractionServices,
  { signInAt }: PageClient,
): DevicePage & { readonly path: `/${string}` } {
  return {
    path,
    async signIn(request: EndpointRequest, kit: EndpointKit) {
      const { searchParams } = new URL(request.url)
      const userCode = typedUserCode(searchParams.get('user_code') ?? '')
      const state = userCode === undefined ? {} : { state: userCode }
      const wantsOther = request.method === 'GET' && searchParams.get('account') === 'other'
      if (wantsOther) return signInAt(kit, { ...state, prompt: 'login' })
      const session = await sessions.find(kit, request)
      if (session !== undefined && (await kit.isUserActive(session.subject.sub))) {
        const { subject, provesTime, name } = session
        return { subject, provesTime, name }
      }
      // The user has cancelled. The page has a link to begin again.
      if (searchParams.has('error')) return undefined
      return signInAt(kit, state)
    },
    suffices: (signedIn, client, kit) => suffices({ subject: signedIn.subject }, client, kit),
    render: rendererOf(pages, path, (code) => `?${new URLSearchParams({ user_code: code, account: 'other' })}`),
  }
}

/**
 * Device authorization whose page signs users in with the interaction of the authorization endpoint. Pass it to
 * `authorizationEndpoint()` as one of its `features`, instead of the plugin `deviceAuthorization()`.
 *
 * @throws TypeError when an option is malformed.
 * @see RFC 8628
 */
export function deviceSignIn(input: DeviceSignInOptions): AuthorizationFeature {
  const { pages, ...options } = parseConfiguration(optionsSchema, input, 'deviceSignIn()')
  return {
    parts(services) {
      const client = pageClient('urn:grantry:device-page', path)
      const page = pageOf(pages, services, client)
      return [...deviceParts({ ...options, verificationUri: undefined, page }), client.part]
    },
  }
}
