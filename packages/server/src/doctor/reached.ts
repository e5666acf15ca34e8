// Sends requests to the external servers that a configuration names: otherwise, users would be the first to notice an
// outage.
import { isNamedPlugin } from '../configuration/named-plugins.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import { errorMessage } from '../error-message.ts'
import type { Facts } from './facts.ts'

/** Milliseconds for each provider. */
const patience = 5000

/** Returns why mails cannot be sent; `undefined` if the server accepts the sign-in, or there is none. */
export async function problemOfMail({ mail }: Pick<CheckedConfiguration, 'mail'>): Promise<string | undefined> {
  if (mail === undefined) return undefined
  const { smtpMailer } = await import('@grantry/mail')
  const mailer = smtpMailer({ ...mail, timeout: Math.min(mail.timeout, patience / 1000) })
  try {
    await mailer.verify()
    return undefined
  } catch (cause) {
    return errorMessage(cause)
  } finally {
    mailer.close()
  }
}

async function problemOfIssuer(issuer: string): Promise<string | undefined> {
  const url = `${issuer.replace(/\/$/u, '')}/.well-known/openid-configuration`
  try {
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(patience) })
    await response.body?.cancel()
    return response.ok ? undefined : `${url} returns ${response.status}`
  } catch (cause) {
    const { cause: reason = cause } = cause as { readonly cause?: unknown }
    return `${url} cannot be reached: ${errorMessage(reason)}`
  }
}

/** Returns the providers of the sign-in that do not respond. Providers of presets are not checked. */
export async function problemsOfProviders({
  plugins = [],
}: Pick<CheckedConfiguration, 'plugins'>): Promise<Facts['unreachable']> {
  const issuers = plugins.flatMap((plugin, index) =>
    isNamedPlugin(plugin) && plugin.name === 'sign-in'
      ? (plugin.providers ?? []).flatMap((provider, position) =>
          'issuer' in provider
            ? [{ where: `plugins[${index}].providers[${position}].issuer`, issuer: provider.issuer }]
            : [],
        )
      : [],
  )
  const results = await Promise.all(
    issuers.map(async ({ where, issuer }) => ({ where, reason: await problemOfIssuer(issuer) })),
  )
  return results.flatMap(({ where, reason }) => (reason === undefined ? [] : [{ where, reason }]))
}
