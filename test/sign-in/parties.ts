import type { AuthorizationEndpointOptions } from '@grantry/plugins/authorization-endpoint'
import { type SignInOptions, type SignInPages, signIn } from '@grantry/plugins/sign-in'
import type { TestProviderOptions } from '@grantry/testing'
import { hiddenFields, type Page } from '../authorization/browser.ts'
import { request, setUp } from '../authorization/parties.ts'

/** Pages that show their view. */
const shown = (page: string) => (view: object & { readonly fields?: Readonly<Record<string, string>> }) => ({
  html: `${page} ${JSON.stringify(view)} ${Object.entries(view.fields ?? {})
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`)
    .join('')}`,
})

export const testPages: SignInPages = {
  localeOf: () => 'en',
  signIn: shown('signIn'),
  secondFactor: shown('secondFactor'),
  consent: shown('consent'),
  chooseAccount: shown('chooseAccount'),
  error: shown('error'),
}

const passwords: Readonly<Record<string, string>> = { alice: 'alice-password', bob: 'bob-password' }

/** A provider with users `alice` and `bob`, and a browser at the beginning of a sign-in. */
export async function setUpSignIn(
  options: Partial<SignInOptions> = {},
  more: Partial<TestProviderOptions> = {},
  endpoint: Partial<AuthorizationEndpointOptions> = {},
) {
  const f = await setUp(signIn({ pages: testPages, ...options }), endpoint, {
    users: {
      authenticate: ({ username, password }) =>
        password !== '' && passwords[username] === password ? { sub: username } : undefined,
    },
    ...more,
  })
  const { issuer } = f.provider
  const start = async (parameters: Readonly<Record<string, string>> = {}, browser = f.browser()) => {
    const page = await browser.open(f.urlOf({ ...request, ...parameters }))
    const submit = (path: string, form: Readonly<Record<string, string>>, of: Page = page) =>
      browser.submit(`${issuer}/connect/${path}`, { ...hiddenFields(of), ...form })
    const enter = (username: string, password = `${username}-password`, of: Page = page) =>
      submit('signin', { username, password }, of)
    return { browser, page, submit, enter }
  }
  return { ...f, start }
}

/** The name of the page. */
export const nameOf = ({ html }: Page): string => html.split(' ', 1)[0] ?? ''
