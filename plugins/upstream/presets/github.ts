import { configurationObject, type OptionsOf, parseConfiguration } from '@grantry/core'
import * as v from 'valibot'
import type { UpstreamGet } from '../provider.ts'
import { presetEntries, text, type UpstreamProvider } from '../upstream-options.ts'

const url = v.pipe(v.string('must be a URL'), v.regex(/^https:\/\/[^/?#]+$/u, 'must be an https URL without a path'))

export const githubSchema = configurationObject({
  ...presetEntries('github', 'GitHub'),
  clientSecret: text,
  scope: v.optional(text, 'read:user user:email'),
  /** The URL of GitHub Enterprise Server. Default: github.com. */
  url: v.optional(url),
})

export type GithubOptions = OptionsOf<typeof githubSchema>

const userSchema = v.object({
  id: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(Number.MAX_SAFE_INTEGER)),
  login: v.string(),
  name: v.nullish(v.string()),
  avatar_url: v.nullish(v.string()),
  html_url: v.nullish(v.string()),
})

const mailsSchema = v.array(v.object({ email: v.string(), primary: v.boolean(), verified: v.boolean() }))

/** Returns the primary address if GitHub has verified it. The address of the profile can be any text. */
async function readMail(get: UpstreamGet, api: string) {
  const mails = v.safeParse(mailsSchema, await get(`${api}/user/emails`))
  const mail = mails.success ? mails.output.find(({ primary, verified }) => primary && verified) : undefined
  return mail && { email: mail.email, email_verified: true }
}

/**
 * Users sign in with GitHub, which is plain OAuth 2.0: there are no identity tokens, and the user is what its API returns
 * for the access token. Users are known by their number, because their names get new owners.
 *
 * @throws TypeError when an option is malformed.
 */
export function github(options: GithubOptions): UpstreamProvider {
  const { url: serverUrl, ...common } = parseConfiguration(githubSchema, options, 'github()')
  const site = serverUrl ?? 'https://github.com'
  const api = serverUrl === undefined ? 'https://api.github.com' : `${serverUrl}/api/v3`
  return {
    ...common,
    issuer: `${site}/login/oauth`,
    authentication: 'client_secret_post',
    adapter: {
      endpoints: {
        authorization: `${site}/login/oauth/authorize`,
        token: `${site}/login/oauth/access_token`,
      },
      async readClaims(get) {
        const [user, mail] = await Promise.all([get(`${api}/user`), readMail(get, api)])
        const parsed = v.safeParse(userSchema, user)
        if (!parsed.success) return undefined
        const { id, login, name, avatar_url: picture, html_url: profile } = parsed.output
        const claims = { name: name ?? login, preferred_username: login, picture, profile, ...mail }
        const present = Object.entries(claims).filter(([, value]) => typeof value === 'boolean' || Boolean(value))
        return { sub: String(id), ...Object.fromEntries(present) }
      },
    },
  }
}
