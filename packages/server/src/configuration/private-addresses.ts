import { isDeepStrictEqual } from 'node:util'
import { isJsonObject } from '@grantry/core'

type Members = Readonly<Record<string, unknown>>

/** A permission of a plugin to send requests to hosts of the local network. */
interface Permission {
  /** The path of the permission, with `[]` for any item of a list. */
  readonly path: string
  /** The options that determine the hosts. */
  readonly unit: Members
}

/** The member with the settings for the keys of its siblings. */
const settingsOfSiblings = 'jwksUri'

/** Returns where options allow private addresses, each with the object that the permission is given for. */
function permissionsIn(options: unknown, path: string, parent: Members | undefined): readonly Permission[] {
  if (Array.isArray(options)) return options.flatMap((item) => permissionsIn(item, `${path}[]`, undefined))
  if (!isJsonObject(options)) return []
  const isPermitted = options.allowPrivateAddresses === true
  const isOfSiblings = path === settingsOfSiblings || path.endsWith(`.${settingsOfSiblings}`)
  const unit = isOfSiblings && parent !== undefined ? parent : options
  return [
    ...(isPermitted ? [{ path, unit }] : []),
    ...Object.entries(options).flatMap(([member, value]) =>
      permissionsIn(value, path === '' ? member : `${path}.${member}`, options),
    ),
  ]
}

/**
 * Members that affect neither the hosts, nor the requests, nor who can name hosts. All other members belong to the
 * permission: with `open` registration, for example, strangers name the hosts.
 */
const free: ReadonlySet<string> = new Set([
  ...['displayName', 'clientId', 'clientSecret', 'privateKey', 'privateKeyId', 'privateKeyAlgorithm'],
  ...['scope', 'claims', 'acr', 'linkBy', 'domains', 'freshness'],
  ...['scopes', 'grantTypes', 'refreshToken', 'authenticationMethods', 'consent'],
  ...['redirectHosts', 'otherRedirectHosts', 'nativeRedirects'],
])

const demanding = (unit: Members): Members =>
  Object.fromEntries(Object.entries(unit).filter(([member, value]) => value !== undefined && !free.has(member)))

/**
 * Returns where the options of a plugin allow private addresses that others do not allow; `undefined` if nowhere. A
 * permission is given for one provider, one issuer or one list of hosts: it is no permission for others.
 *
 * @param options validated, so that both have the defaults
 * @param permitted the options of the server for the same plugin
 */
export function widerAddresses(options: unknown, permitted: readonly unknown[]): string | undefined {
  const granted = permitted.flatMap((item) => permissionsIn(item, '', undefined))
  const wider = permissionsIn(options, '', undefined).find(
    ({ path, unit }) =>
      !granted.some(
        (permission) => permission.path === path && isDeepStrictEqual(demanding(permission.unit), demanding(unit)),
      ),
  )
  return wider && `${wider.path === '' ? '' : `${wider.path}.`}allowPrivateAddresses`
}
