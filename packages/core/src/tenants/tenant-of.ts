import { parseUrl, pathOf } from '../parse-url.ts'

/** Finds the tenant of a request. */
export interface TenantOf {
  /** Returns the key of the tenant, with which `find()` looks it up; `undefined` for a request to no tenant. */
  of(request: Request): string | undefined
  /** Returns why the tenant with this key cannot have this issuer; `undefined` if it can. */
  readonly issuerProblem?: ((key: string, issuer: string) => string | undefined) | undefined
}

/** 1 to 63 lower-case letters, digits and hyphens: a name that no URL, file or log writes in another way. */
const nameForm = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const wholeName = new RegExp(`^${nameForm}$`, 'u')

/** Whether a tenant can have this name: 1 to 63 lower-case letters, digits, and hyphens between them. */
export const isTenantName = (name: unknown): name is string => typeof name === 'string' && wholeName.test(name)

/**
 * Finds tenants by a segment of the path: `https://id.example.com/t/acme`. The key is the name of the tenant. The documents
 * for clients are where OpenID Connect Discovery section 4 and RFC 8414 section 3.1 expect them.
 *
 * Names are compared as they are written: a path with another case, with `%` escapes or empty segments is none of a tenant.
 *
 * @param prefix the path before the name. Default: `/t`
 * @throws TypeError when the prefix is no path
 */
export function tenantsByPath({ prefix = '/t' }: { readonly prefix?: string | undefined } = {}): TenantOf {
  if (!/^(?:\/[a-z0-9_-]+)+$/u.test(prefix)) {
    throw new TypeError(`The prefix of tenants is ${JSON.stringify(prefix)}; write a path such as /t, in lower case`)
  }
  const below = new RegExp(`^${prefix}/(${nameForm})(?:/|$)`, 'u')
  // Such as /.well-known/oauth-authorization-server/t/acme, and what plugins place there.
  const before = new RegExp(`^/\\.well-known/[\\w.-]+${prefix}/(${nameForm})$`, 'u')
  return {
    of(request) {
      const path = pathOf(request.url)
      return (below.exec(path) ?? before.exec(path))?.[1]
    },
    issuerProblem(key, issuer) {
      const path = `${prefix}/${key}`
      return parseUrl(issuer)?.pathname === path ? undefined : `the path of its issuer must be ${path}`
    },
  }
}

/** A host name without a trailing dot, with or without a port. Excludes user information, and what parsers read differently. */
const hostForm =
  /^((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/u

const maxHost = 260

/**
 * Finds tenants by the host of the request: `https://id.acme.example`. The key is the host in lower case, without its port.
 *
 * The host is that of the header `Host`, or of the URL without one. `X-Forwarded-Host` is ignored, because each client can
 * send it: let the proxy pass `Host` on.
 */
export function tenantsByHost(): TenantOf {
  return {
    of(request) {
      const host = request.headers.get('host') ?? parseUrl(request.url)?.host ?? ''
      return host.length > maxHost ? undefined : hostForm.exec(host.toLowerCase())?.[1]
    },
    issuerProblem: (key, issuer) =>
      parseUrl(issuer)?.hostname === key ? undefined : `the host of its issuer must be ${key}`,
  }
}
