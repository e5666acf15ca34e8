import {
  type Client,
  defineEndpoint,
  type EndpointKit,
  type EndpointRequest,
  isOAuthError,
  type OAuthError,
  type Reply,
  type Subject,
} from '@grantry/core'
import * as v from 'valibot'
import { browserCookie } from '../shared/browser-cookie.ts'
import { givesAccess, scopeFieldOf, scopesToChoose } from '../shared/scope-choice.ts'
import type { DevicePage, devicePageSchema, NamedSubject } from './device-page-options.ts'
import { rendererOf } from './device-pages.ts'
import { type DevicePageState, defaultPage } from './page-html.ts'
import { createDeviceVerification, type DeviceRequest, type GuessLimit } from './verification.ts'

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

const pageEntries = {
  user_code: v.optional(v.string()),
  /** The user code, if the page has sent the user to a sign-in as a client. */
  state: v.optional(v.string()),
  form_token: v.optional(v.string()),
  decision: v.optional(v.picklist(['approve', 'deny'])),
  chosen: v.optional(v.string()),
}

/** The others are those of `scopeFieldOf`. */
const pageParameters = v.objectWithRest(pageEntries, v.string())
type Fields = v.InferOutput<typeof pageParameters>

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

/** Returns the state of the page that asks for a decision. */
async function askedBy(deviceRequest: DeviceRequest, client: Client, leftOut: readonly string[], kit: EndpointKit) {
  const { userCode, clientId, scopes, expiresAt } = deviceRequest
  const lifetime = Math.max(1, expiresAt - kit.now())
  const { resources } = await kit.openAuthorization({ kind: 'device', clientId, scopes, lifetime })
  const problem = leftOut.length > 0 ? ('nothing_chosen' as const) : undefined
  return { userCode, client, scopes, choosable: scopesToChoose(client, scopes), leftOut, problem, resources }
}

interface Choice {
  readonly leftOut: readonly string[]
  /** The chosen scopes: none if no access is left. Absent if the user has left out nothing. */
  readonly scopes?: readonly string[]
}

/** Returns the scopes that the user has chosen on a page with a choice. */
async function choiceOf(userCode: string, fields: Fields, visit: Visit, guesses: GuessLimit): Promise<Choice> {
  const { request, kit } = visit
  if (fields.chosen !== 'yes') return { leftOut: [] }
  const deviceRequest = await createDeviceVerification(kit, guesses).find(userCode, request.clientAddress ?? '')
  const client = deviceRequest && (await kit.findClient(deviceRequest.clientId))
  if (deviceRequest === undefined || client === undefined) return { leftOut: [] }
  const leftOut = scopesToChoose(client, deviceRequest.scopes).filter((name) => fields[scopeFieldOf(name)] !== 'yes')
  if (leftOut.length === 0) return { leftOut }
  const scopes = deviceRequest.scopes.filter((name) => !leftOut.includes(name))
  return { leftOut, scopes: givesAccess(scopes) ? scopes : [] }
}

/** Judges the sign-in of a user for the client of a code. */
function createJudge({ suffices }: Pick<DevicePage, 'suffices'>, guesses: GuessLimit) {
  const isEnough = async ({ subject, provesTime, name, kit }: Visit, client: Client): Promise<boolean> =>
    suffices === undefined ||
    kit.callHost('deviceAuthorization.suffices', () => suffices({ subject, provesTime, name }, client, kit))

  /** Judged again: the user may have another session than when the page was shown. */
  async function mayApprove(userCode: string, visit: Visit): Promise<boolean> {
    if (suffices === undefined) return true
    const { kit, request } = visit
    const deviceRequest = await createDeviceVerification(kit, guesses).find(userCode, request.clientAddress ?? '')
    const client = deviceRequest && (await kit.findClient(deviceRequest.clientId))
    return client === undefined || isEnough(visit, client)
  }

  return { isEnough, mayApprove }
}

const otherSignIn = (userCode: string, visit: Visit, show: ReturnType<typeof createShow>): Promise<Reply> =>
  show(
    { step: 'signed_out', insufficientFor: userCode },
    visit,
    visit.kit.refuse('login_required', 'The client demands another sign-in', 'sign_in_insufficient'),
  )

/** The same response for a code that never existed, has expired, or was decided. */
const unknownCode = (visit: Visit, show: ReturnType<typeof createShow>): Promise<Reply> =>
  show(
    { step: 'enter_code', problem: 'code_unknown' },
    visit,
    visit.kit.refuse('invalid_request', 'The user code is not valid', 'user_code_unknown'),
  )

/**
 * The page where the user enters the code, and approves or denies.
 *
 * @see RFC 8628 sections 3.3, 3.3.1 and 5.4
 */
export function pageEndpoint(page: v.InferOutput<typeof devicePageSchema>, guesses: GuessLimit) {
  const { path, signIn, pages } = page
  const { isEnough, mayApprove } = createJudge(page, guesses)
  const show = createShow(page.render ?? (pages && rendererOf(pages, path)))

  /** @param leftOut the scopes that the user has left out, if no usable scope is left */
  async function confirm(typed: string, visit: Visit, leftOut: readonly string[] = []): Promise<Reply> {
    const { subject, name, request, kit } = visit
    const [deviceRequest, epoch] = await Promise.all([
      createDeviceVerification(kit, guesses).find(typed, request.clientAddress ?? ''),
      kit.epochOf(subject.sub),
    ])
    const client = deviceRequest && (await kit.findClient(deviceRequest.clientId))
    if (deviceRequest === undefined || client === undefined) return unknownCode(visit, show)
    const { userCode, expiresAt } = deviceRequest
    if (!(await isEnough(visit, client))) return otherSignIn(userCode, visit, show)
    const known = cookieOf(kit).read(request)
    const browser = known ?? kit.randomId()
    const content = { browser, sub: subject.sub, userCode, ...(epoch !== undefined && { epoch }) }
    const formToken = await kit.seal(content, expiresAt)
    const asked = await askedBy(deviceRequest, client, leftOut, kit)
    const reply = await show({ step: 'confirm', ...asked, subject, name, formToken }, visit)
    if (known !== undefined) return reply
    return { ...reply, cookies: [...(reply.cookies ?? []), cookieOf(kit).write(browser)] }
  }

  async function decide(approves: boolean, fields: Fields, visit: Visit): Promise<Reply> {
    const { subject, provesTime, request, kit } = visit
    const [form, epoch] = await Promise.all([kit.unseal(fields.form_token ?? '', formSchema), kit.epochOf(subject.sub)])
    const isOfBrowser = form !== undefined && kit.equals(form.browser, cookieOf(kit).read(request) ?? '')
    if (!isOfBrowser || form.sub !== subject.sub || (epoch !== undefined && epoch !== form.epoch)) {
      const error = kit.refuse('invalid_request', 'The form is not valid', 'form_invalid')
      return show({ step: 'enter_code', problem: 'form_expired' }, visit, error)
    }
    const { approve, deny } = createDeviceVerification(kit, guesses)
    const address = request.clientAddress ?? ''
    if (approves && !(await mayApprove(form.userCode, visit))) return otherSignIn(form.userCode, visit, show)
    const choice = approves ? await choiceOf(form.userCode, fields, visit, guesses) : undefined
    if (choice?.scopes?.length === 0) return confirm(form.userCode, visit, choice.leftOut)
    const isDecided = await (approves
      ? approve(form.userCode, address, { subject, provesTime, epoch, scopes: choice?.scopes })
      : deny(form.userCode, address, subject.sub))
    return isDecided ? show({ step: approves ? 'approved' : 'denied' }, visit) : unknownCode(visit, show)
  }

  return defineEndpoint({
    name: 'deviceVerification',
    presentError: (_error, request, kit) => show({ step: 'enter_code', problem: 'form_expired' }, { request, kit }),
    path,
    methods: ['GET', 'POST'],
    effects: true,
    caller: 'anyone',
    params: pageParameters,
    async handle({ params: fields, request }, kit) {
      const { state, user_code = state, decision } = fields
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
        if (isForm && decision !== undefined) return await decide(decision === 'approve', fields, visit)
        return await (user_code === undefined ? show({ step: 'enter_code' }, visit) : confirm(user_code, visit))
      } catch (error) {
        if (!isOAuthError(error) || error.code !== 'slow_down') throw error
        return show({ step: 'enter_code', problem: 'too_many_guesses' }, visit, error)
      }
    },
  })
}
