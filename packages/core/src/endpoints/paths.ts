import { type EndpointName, endpointNames } from './endpoint.ts'

/** A path relative to the issuer; `true` for the default path; `false` to disable the endpoint. */
export type EndpointSwitch = boolean | `/${string}`

/** The default path of each endpoint, relative to the issuer. The option `endpoints` overrides it. */
export const defaultPaths: Readonly<Record<EndpointName, `/${string}`>> = {
  token: '/connect/token',
  identityTokenValidation: '/connect/identitytokenvalidation',
  userinfo: '/connect/userinfo',
  accessTokenValidation: '/connect/accesstokenvalidation',
  introspection: '/connect/introspect',
  revocation: '/connect/revocation',
  discovery: '/.well-known/openid-configuration',
  authorizationServerMetadata: '/.well-known/oauth-authorization-server',
  jwks: '/.well-known/jwks',
}

/** The absolute paths of the enabled endpoints. */
export type EndpointPaths = ReadonlyMap<EndpointName, string>

const issuerPath = (issuer: string): string => new URL(issuer).pathname.replace(/\/$/u, '')

/** @throws TypeError when two endpoints have the same path. */
export function endpointPaths(options: {
  readonly issuer: string
  readonly endpoints: Readonly<Partial<Record<EndpointName, EndpointSwitch | undefined>>>
}): EndpointPaths {
  const base = issuerPath(options.issuer)
  const paths = new Map<EndpointName, string>()
  for (const name of endpointNames) {
    const setting = options.endpoints[name] ?? true
    if (setting === false) continue
    const relative = setting === true ? defaultPaths[name] : setting
    // RFC 8414 section 3.1: the well-known part goes between host and path.
    const path = name === 'authorizationServerMetadata' ? `${relative}${base}` : `${base}${relative}`
    const duplicate = [...paths].find(([, taken]) => taken === path)
    if (duplicate !== undefined) {
      throw new TypeError(`endpoints: ${duplicate[0]} and ${name} have the same path ${path}`)
    }
    paths.set(name, path)
  }
  return paths
}

/**
 * A hint for a request to an endpoint's path under the wrong base path. It reveals nothing that discovery does not
 * publish.
 */
export function basePathHint(path: string, issuer: string, paths: EndpointPaths): string {
  const base = issuerPath(issuer)
  const isElsewhere = [...paths.values()].some(
    (known) => known.startsWith(base) && path.endsWith(known.slice(base.length)),
  )
  return isElsewhere ? `; the endpoints are under ${base === '' ? '/' : base}` : ''
}
