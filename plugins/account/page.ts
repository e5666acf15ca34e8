import { defineEndpoint, type EndpointKit, type EndpointRequest, type Reply } from '@grantry/core'
import * as v from 'valibot'
import { errorViewOf, isRecent } from '../authorization-endpoint/authorization-endpoint.ts'
import type { AccountNotice } from './account-pages.ts'
import { accountOf } from './accounts.ts'
import { addressPaths, addressView, changeAddress, proveAddress } from './address.ts'
import { applicationViews, withdrawAccess } from './applications.ts'
import { dataPath, downloadData } from './data.ts'
import { deleteAccount, deletePath, deletionView } from './delete.ts'
import { isUnproved, resumed, resumePath } from './demand.ts'
import { guarded, isEnded } from './guarded.ts'
import { endKept, fieldsIn, keepForm, keptPage, withoutKept } from './kept-form.ts'
import { addPasskey, addPasskeyPath, passkeysView, removePasskey, renamePasskey } from './passkeys.ts'
import { changePassword, passwordPath } from './password.ts'
import { otpPaths } from './paths.ts'
import { changeProfile, profilePath, profileView } from './profile.ts'
import { linkedPath, linkedView, linkNotice, linkProvider, unlinkProvider } from './providers.ts'
import { factorsView, newRecoveryCodes, removeApp, setUpApp } from './second-factors.ts'
import type { AccountServices, ChangePage, Fields } from './services.ts'
import { endOtherSessions, endOthersPath, endSession, sessionViews, signOut, signOutPath } from './sessions.ts'
import {
  accountPath,
  mayStillChange,
  nameIn,
  permits,
  returnPath,
  sessionFor,
  signedOutPage,
  signInPath,
  toSignIn,
  urlOf,
  type Visit,
} from './visit.ts'

declare module '@grantry/core' {
  interface PluginEndpoints {
    account: true
  }
}

/** The pages that change something, by their paths. */
const changePages: readonly (readonly [
  RegExp,
  ChangePage,
  needs?: 'passkeys' | 'secondFactors' | 'linkedProviders' | 'passwords' | 'accounts',
])[] = [
  [new RegExp(`^${otpPaths.setUp}(?:/[\\w-]{43})?$`, 'u'), setUpApp, 'secondFactors'],
  [new RegExp(`^${otpPaths.remove}$`, 'u'), removeApp, 'secondFactors'],
  [new RegExp(`^${otpPaths.codes}$`, 'u'), newRecoveryCodes, 'secondFactors'],
  [new RegExp(`^${endOthersPath}$`, 'u'), endOtherSessions],
  [new RegExp(`^${signOutPath}$`, 'u'), signOut],
  [new RegExp(`^${addressPaths.ask}$`, 'u'), changeAddress, 'accounts'],
  [new RegExp(`^${addressPaths.prove}$`, 'u'), proveAddress, 'accounts'],
  [new RegExp(`^${dataPath}$`, 'u'), downloadData],
  [new RegExp(`^${deletePath}$`, 'u'), deleteAccount],
  [new RegExp(`^${profilePath}$`, 'u'), changeProfile, 'accounts'],
  [new RegExp(`^${passwordPath}$`, 'u'), changePassword, 'passwords'],
  [/^sessions\/[\w-]{43}$/u, endSession],
  [/^applications\/[\w-]{22}$/u, withdrawAccess],
  [new RegExp(`^${addPasskeyPath}$`, 'u'), addPasskey, 'passkeys'],
  [/^passkeys\/[\w-]{43}\/rename$/u, renamePasskey, 'passkeys'],
  [/^passkeys\/[\w-]{43}\/remove$/u, removePasskey, 'passkeys'],
  [new RegExp(`^${linkedPath}/add/[\\w-]+$`, 'u'), linkProvider, 'linkedProviders'],
  [new RegExp(`^${linkedPath}/[\\w-]{43}/remove$`, 'u'), unlinkProvider, 'linkedProviders'],
]

/** Returns the page that changes something at a path, if the deployment has it. */
function changePageAt(path: string, services: AccountServices): ChangePage | undefined {
  const [, page, needs] = changePages.find(([form]) => form.test(path)) ?? []
  return needs !== undefined && services[needs] === undefined ? undefined : page
}

async function overview(visit: Visit, services: AccountServices, notice?: AccountNotice): Promise<Reply> {
  // The rest of the page works even if the store of accounts fails.
  const ownAccount = accountOf(visit, services).catch(() => undefined)
  const [account, sessions, applications, passkeys, factors, linked] = await Promise.all([
    ownAccount,
    sessionViews(visit, services),
    applicationViews(visit, services),
    passkeysView(visit, services, ownAccount),
    factorsView(visit, services),
    linkedView(visit, services),
  ])
  const { kit, session, locale } = visit
  const view = {
    // The session has the name that the user had at the sign-in.
    subjectName: account?.username ?? nameIn(session),
    profile: profileView(account, visit, services),
    email: addressView(account, visit, services),
    ...(services.download && { downloadData: urlOf(kit, dataPath) }),
    deleteAccount: deletionView(account, visit, services),
    sessions,
    applications,
    passkeys,
    ...(sessions.some(({ isCurrent }) => !isCurrent) && { endOthers: urlOf(kit, endOthersPath) }),
    // A user of the configuration has no account, and so no password to change here.
    ...(services.passwords !== undefined && account !== undefined && { changePassword: urlOf(kit, passwordPath) }),
    factors,
    linked,
    notice,
  }
  return services.pages.overview(view, locale)
}

/** The overview, with what a form has changed. */
async function outcome(result: AccountNotice | Reply, visit: Visit, services: AccountServices): Promise<Reply> {
  if (typeof result !== 'string') return result
  const page = await overview(visit, services, result)
  if (result !== 'form_expired') return page
  return { ...page, error: visit.kit.refuse('invalid_request', 'The form is not valid', 'form_invalid') }
}

async function change(page: ChangePage, fields: Fields, visit: Visit, services: AccountServices): Promise<Reply> {
  const { request, session, path, kit } = visit
  const isForm = request.method === 'POST'
  const maxAge = Math.min(services.maxAge, page.maxAge ?? services.maxAge)
  const mustProve = page.isFree !== true && (await isUnproved(visit, services))
  if (mustProve || (page.isFree !== true && !isRecent(session, maxAge, kit))) {
    if (isForm) {
      if (page.keeps !== undefined && (await permits(visit, fields.form_token ?? ''))) await keepForm(fields, visit)
      // The page with the form sends the user to the sign-in: a form must not follow redirects to other sites.
      return { location: urlOf(kit, path) }
    }
    // Without the name of the user, which can be a mail address: URLs get into logs. The page knows the session.
    return toSignIn(services.client, kit, path, { max_age: String(mustProve ? 0 : maxAge) })
  }
  const isSent = isForm || (page.byLink === true && fields.form_token !== undefined)
  if (!isSent) {
    const kept = fields[withoutKept] === undefined ? await keptPage(visit, page, services) : undefined
    return kept ?? (await page.show(visit, services)) ?? { location: urlOf(kit) }
  }
  if (!(await permits(visit, fields.form_token ?? ''))) return outcome('form_expired', visit, services)
  const submitted = page.keeps === undefined ? fields : await fieldsIn(fields, visit)
  if (submitted === undefined) return outcome('form_expired', visit, services)
  try {
    const writing = page.asksItself === true ? services : guarded(visit, services)
    const result = await page.submit(submitted, visit, writing)
    if (submitted !== fields) await endKept(visit)
    return await outcome(result, visit, services)
  } catch (error) {
    if (!isEnded(error)) throw error
    if (await mayStillChange(visit, services)) return outcome('gone', visit, services)
    return signedOutPage(path, { request, kit, pages: services.pages })
  }
}

async function handle(
  fields: Fields,
  request: EndpointRequest,
  kit: EndpointKit,
  services: AccountServices,
): Promise<Reply> {
  const path = request.segments.join('/')
  // For a user who has just got an account: asks for a sign-in, because another user may be signed in in this
  // browser.
  if (path === signInPath) return toSignIn(services.client, kit, '', { prompt: 'login' })
  const page = changePageAt(path, services)
  const isResume = path.startsWith(`${resumePath}/`)
  const isFromProvider = path === linkedPath && services.linkedProviders !== undefined
  if (path !== '' && page === undefined && !isResume && !isFromProvider) return { location: urlOf(kit) }
  const session = await sessionFor(request, kit, services.sessions)
  const isForm = request.method === 'POST'
  const { error, code, state } = fields
  // The sign-in returns to the path of the page. Only the session counts.
  const returned = path === '' && !isForm ? returnPath(state) : path
  if (session === undefined) {
    // Shows a page with a link: an automatic redirect would loop for a user who cancels, or whose browser keeps no
    // cookies.
    const isReturn = error !== undefined || code !== undefined
    if (isForm || isReturn) return signedOutPage(returned, { request, kit, pages: services.pages })
    return toSignIn(services.client, kit, path)
  }
  if (!isForm && (code !== undefined || error !== undefined))
    return { location: urlOf(kit, error === undefined ? returned : '') }
  const locale = services.pages.localeOf(undefined, request.header('accept-language'))
  const visit = { session, path, request, kit, locale }
  if (isResume) return resumed(visit, services)
  if (isFromProvider) return overview(visit, services, linkNotice(fields.link))
  return page === undefined ? overview(visit, services) : change(page, fields, visit, services)
}

/** The page of the account. */
export const accountEndpoint = (services: AccountServices) =>
  defineEndpoint({
    name: 'account',
    path: accountPath,
    subpaths: true,
    methods: ['GET', 'POST'],
    caller: 'anyone',
    params: v.record(v.string(), v.string()),
    handle: ({ params, request }, kit) => handle(params, request, kit, services),
    async presentError(error, request, kit) {
      const locale = services.pages.localeOf(undefined, request.header('accept-language'))
      return services.pages.error(await errorViewOf(error, request, kit), locale)
    },
  })
