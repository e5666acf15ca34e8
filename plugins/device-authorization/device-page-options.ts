import {
  type Client,
  configurationObject,
  type EndpointKit,
  type EndpointRequest,
  type MaybePromise,
  type Reply,
  type Subject,
} from '@grantry/core'
import * as v from 'valibot'
import { functionSchema, requiredFunctionSchema } from '../shared/config-schema.ts'
import { type DevicePages, devicePagesSchema } from './device-pages.ts'
import type { DevicePageReply, DevicePageState } from './page-html.ts'

/** A user who is signed in, with a name to show. */
export interface NamedSubject {
  readonly subject: Subject
  /** As `provesTime` of the session. Default: `true`. */
  readonly provesTime?: boolean | undefined
  /** How the user is shown to the user, such as the user name. */
  readonly name?: string | undefined
}

/** Determines who is signed in, and how the page looks. The plugin does everything else. */
export interface DevicePage {
  /** The path of the page, relative to the issuer. Short, because people type it. Default: `/connect/device`. */
  readonly path?: `/${string}` | undefined
  /**
   * Returns the user who is signed in, with a name for the page or without, or a reply that starts a login, such as a redirect. `request.url` is where to
   * return to; it can contain the user code. Without either, and when a form is sent after the session has ended, the
   * page shows a link to itself: browsers apply the content security policy of a form to its redirects.
   */
  signIn(request: EndpointRequest, kit: EndpointKit): MaybePromise<Subject | NamedSubject | Reply | undefined>
  /** Whether the user has signed in in a way that is enough for a client. Default: every way is. */
  suffices?: ((signedIn: NamedSubject, client: Client, kit: EndpointKit) => MaybePromise<boolean>) | undefined
  /** The pages of `createPages()`, in the language of the user. Instead of `render`. */
  readonly pages?: DevicePages | undefined
  /** Renders the page. Escape every text. Default: that of `pages`, otherwise a page in English without scripts. */
  render?: ((state: DevicePageState, request: EndpointRequest) => MaybePromise<DevicePageReply>) | undefined
}

export const devicePageSchema = configurationObject({
  path: v.optional(
    v.custom<`/${string}`>(
      (path) => typeof path === 'string' && path.startsWith('/'),
      'must be a path such as /device',
    ),
    '/connect/device',
  ),
  signIn: requiredFunctionSchema<DevicePage['signIn']>(),
  suffices: functionSchema<NonNullable<DevicePage['suffices']>>(),
  pages: v.optional(devicePagesSchema),
  render: functionSchema<NonNullable<DevicePage['render']>>(),
})
