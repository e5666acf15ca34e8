import {
  configurationObject,
  defineEndpoint,
  type EndpointKit,
  type EndpointRequest,
  isOAuthError,
  type MaybePromise,
  type OAuthError,
  type Reply,
  type Subject,
} from '@grantry/core'
import * as v from 'valibot'
import { browserCookie } from '../shared/browser-cookie.ts'
import { functionSchema } from '../shared/config-schema.ts'
import { type DevicePageReply, type DevicePageState, defaultPage } from './page-html.ts'
import { createDeviceVerification, type GuessLimit } from './verification.ts'

/** A user who is signed in, with a name to show. */
export interface NamedSubject {
  readonly subject: Subject
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
  /** Renders the page. Escape every text. Default: a page in English without scripts. */
  render?: ((state: DevicePageState, request: EndpointRequest) => MaybePromise<DevicePageReply>) | undefined
}

/** The schema of the option `page`. */
export const devicePageSchema = configurationObject({
  path: v.optional(
    v.custom<`/${string}`>(
      (path) => typeof path === 'string' && path.startsWith('/'),
      'must be a path such as /device',
    ),
    '/connect/device',
  ),
  signIn: v.custom<DevicePage['signIn']>((value) => typeof value === 'function', 'must be a function'),
  render: functionSchema<NonNullable<DevicePage['render']>>(),
})

/** The secret that the page keeps in this browser. Another site can neither read it nor send it with a form. */
const cookieOf = browserCookie('device', /^[\w-]{43}$/u)

/** What a form token contains. The code is in it, so that a form cannot be sent for another code than it shows. */
const formSchema = v.object({
  browser: v.string(),
  sub: v.string(),
  userCode: v.string(),
  /** The epoch of the user when the form was shown. */
  epoch: v.exactOptional(v.string()),
})

const pageParameters = v.object({
  user_code: v.optional(v.string()),
  /** The user code, if the page has sent the user to a sign-in as a client. */
  state: v.optional(v.string()),
  form_token: v.optional(v.string()),
  decision: v.optional(v.picklist(['approve', 'deny'])),
})

const isReply = (signedIn: Subject | NamedSubject | Reply): signedIn is Reply =>
  !('sub' in signedIn || 'subject' in signedIn)

/** A request of a user who is signed in. */
interface Visit extends NamedSubject {
  readonly request: EndpointRequest
  readonly kit: EndpointKit
}

function createShow(render: DevicePage['render']) {
  return async (
    state: DevicePageState,
    { request, kit }: Pick<Visit, 'request' | 'kit'>,
    error?: OAuthError,
  ): Promise<Reply> => ({
    ...(await (render === undefined
      ? defaultPage(state, kit)
      : kit.callHost('deviceAuthorization.render', () => render(state, request)))),
    ...(error !== undefined && { error }),
  })
}

/**
 * The page where the user enters the code, and approves or denies.
 *
 * @see RFC 8628 sections 3.3, 3.3.1 and 5.4
 */
export function pageEndpoint({ path, signIn, render }: v.InferOutput<typeof devicePageSchema>, guesses: GuessLimit) {
  const show = createShow(render)

  /** The same response for a code that never existed, has expired, or was decided. */
  const unknownCode = (visit: Visit): Promise<Reply> =>
    show(
      { step: 'enter_code', problem: 'code_unknown' },
      visit,
      visit.kit.refuse('invalid_request', 'The user code is not valid', 'user_code_unknown'),
    )

  async function confirm(typed: string, visit: Visit): Promise<Reply> {
    const { subject, name, request, kit } = visit
    const [found, epoch] = await Promise.all([
      createDeviceVerification(kit, guesses).find(typed, request.clientAddress ?? ''),
      kit.epochOf(subject.sub),
    ])
    const client = found && (await kit.findClient(found.clientId))
    if (found === undefined || client === undefined) return unknownCode(visit)
    const { userCode, scopes, expiresAt } = found
    const known = cookieOf(kit).read(request)
    const browser = known ?? kit.randomId()
    const formToken = await kit.seal(
      { browser, sub: subject.sub, userCode, ...(epoch !== undefined && { epoch }) },
      expiresAt,
    )
    const reply = await show({ step: 'confirm', userCode, client, scopes, subject, name, formToken }, visit)
    if (known !== undefined) return reply
    return { ...reply, cookies: [...(reply.cookies ?? []), cookieOf(kit).write(browser)] }
  }

  async function decide(approves: boolean, formToken: string, visit: Visit): Promise<Reply> {
    const { subject, request, kit } = visit
    const [form, epoch] = await Promise.all([kit.unseal(formToken, formSchema), kit.epochOf(subject.sub)])
    const isOfBrowser = form !== undefined && kit.equals(form.browser, cookieOf(kit).read(request) ?? '')
    if (!isOfBrowser || form.sub !== subject.sub || (epoch !== undefined && epoch !== form.epoch)) {
      const error = kit.refuse('invalid_request', 'The form is not valid', 'form_invalid')
      return show({ step: 'enter_code', problem: 'form_expired' }, visit, error)
    }
    const { approve, deny } = createDeviceVerification(kit, guesses)
    const address = request.clientAddress ?? ''
    const isDecided = await (approves
      ? approve(form.userCode, address, { subject, epoch })
      : deny(form.userCode, address, subject.sub))
    return isDecided ? show({ step: approves ? 'approved' : 'denied' }, visit) : unknownCode(visit)
  }

  return defineEndpoint({
    name: 'deviceVerification',
    presentError: (_error, request, kit) => show({ step: 'enter_code', problem: 'form_expired' }, { request, kit }),
    path,
    methods: ['GET', 'POST'],
    effects: true,
    caller: 'anyone',
    params: pageParameters,
    async handle({ params: { state, user_code = state, form_token = '', decision }, request }, kit) {
      const signedIn = await kit.callHost('deviceAuthorization.signIn', () => signIn(request, kit))
      const isForm = request.method === 'POST'
      if (signedIn === undefined || isReply(signedIn)) {
        if (signedIn !== undefined && !isForm) return signedIn
        const error = kit.refuse('login_required', 'The user is not signed in', 'signed_out')
        return show({ step: 'signed_out' }, { request, kit }, error)
      }
      const visit = { ...('sub' in signedIn ? { subject: signedIn } : signedIn), request, kit }
      try {
        // Never by GET: a link must not decide (RFC 8628 section 5.4).
        if (isForm && decision !== undefined) return await decide(decision === 'approve', form_token, visit)
        return await (user_code === undefined ? show({ step: 'enter_code' }, visit) : confirm(user_code, visit))
      } catch (error) {
        if (!isOAuthError(error) || error.code !== 'slow_down') throw error
        return show({ step: 'enter_code', problem: 'too_many_guesses' }, visit, error)
      }
    },
  })
}
