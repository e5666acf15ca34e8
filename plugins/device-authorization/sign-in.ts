import {
  type Client,
  configurationObject,
  type EndpointKit,
  type EndpointRequest,
  type HtmlSources,
  parseConfiguration,
} from '@grantry/core'
import * as v from 'valibot'
import {
  type AuthorizationFeature,
  type InteractionServices,
  type PageClient,
  pageClient,
} from '../authorization-endpoint/authorization-endpoint.ts'
import { type DeviceAuthorizationOptions, deviceAuthorizationSchema } from './options.ts'
import type { DevicePage } from './page.ts'
import type { DevicePageState } from './page-html.ts'
import { deviceParts } from './parts.ts'
import { typedUserCode } from './user-code.ts'

type ClientView = { readonly clientId: string } & {
  readonly [Name in 'name' | 'uri' | 'logoUri' | 'policyUri' | 'tosUri']?: string | undefined
}

/** What the page shows. */
type DeviceView =
  | Exclude<DevicePageState, { readonly step: 'confirm' | 'signed_out' }>
  | { readonly step: 'signed_out'; readonly again: string }
  | (Omit<Extract<DevicePageState, { readonly step: 'confirm' }>, 'client' | 'subject' | 'name'> & {
      readonly client: ClientView
      readonly subjectName?: string | undefined
    })

/** The pages of a device authorization. `createPages()` of `@grantry/pages` has them. Escape every text. */
export interface DevicePages {
  /** Chooses a language. @param uiLocales the parameter `ui_locales` */
  localeOf(uiLocales: string | undefined, acceptLanguage: string | null): string
  deviceCode(view: DeviceView, locale: string): { readonly html: string; readonly sources?: HtmlSources | undefined }
}

export interface DeviceSignInOptions extends Omit<DeviceAuthorizationOptions, 'page' | 'verificationUri'> {
  readonly pages: DevicePages
}

const optionsSchema = configurationObject({
  lifetime: deviceAuthorizationSchema.entries.lifetime,
  interval: deviceAuthorizationSchema.entries.interval,
  guesses: deviceAuthorizationSchema.entries.guesses,
  pages: v.custom<DevicePages>(
    (value) => typeof value === 'object' && value !== null && 'deviceCode' in value,
    'must be the pages of createPages()',
  ),
})

const path = '/connect/device'

const clientView = ({ clientId, ...client }: Client): ClientView => ({
  clientId,
  ...(client.clientName !== undefined && { name: client.clientName }),
  ...(client.clientUri !== undefined && { uri: client.clientUri }),
  ...(client.logoUri !== undefined && { logoUri: client.logoUri }),
  ...(client.policyUri !== undefined && { policyUri: client.policyUri }),
  ...(client.tosUri !== undefined && { tosUri: client.tosUri }),
})

function viewOf(state: DevicePageState): DeviceView {
  if (state.step === 'signed_out') return { ...state, again: path.slice(path.lastIndexOf('/') + 1) }
  if (state.step !== 'confirm') return state
  const { client, subject: _, name: subjectName, ...view } = state
  return { ...view, client: clientView(client), subjectName }
}

function pageOf(
  pages: DevicePages,
  { sessions }: InteractionServices,
  { signInAt }: PageClient,
): DevicePage & { readonly path: `/${string}` } {
  return {
    path,
    async signIn(request: EndpointRequest, kit: EndpointKit) {
      const session = await sessions.find(kit, request)
      if (session !== undefined && (await kit.isUserActive(session.subject.sub))) {
        return { subject: session.subject, name: session.name }
      }
      const { searchParams } = new URL(request.url)
      // The user has cancelled. The page has a link to begin again.
      if (searchParams.has('error')) return undefined
      const userCode = typedUserCode(searchParams.get('user_code') ?? '')
      return signInAt(kit, userCode === undefined ? {} : { state: userCode })
    },
    render: (state, request) =>
      pages.deviceCode(viewOf(state), pages.localeOf(undefined, request.header('accept-language'))),
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
