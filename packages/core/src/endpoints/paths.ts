import * as v from 'valibot'
import { configurationObject, parseConfiguration } from '../config-schema.ts'
import { byClaim, type Owned } from '../parts/part-kind.ts'
import type { Registry } from '../parts/registry.ts'
import { builtInEndpoints } from './built-in.ts'
import type { EndpointFacts } from './core-endpoint.ts'

/** A path relative to the issuer; `true` for the default path; `false` to disable the endpoint. */
export type EndpointSwitch = boolean | `/${string}`

/** The absolute paths of the enabled endpoints. */
export type EndpointPaths = ReadonlyMap<string, string>

/** The name of the plugin that the endpoints of the core belong to. */
export const core = 'core'

const issuerPath = (issuer: string): string => new URL(issuer).pathname.replace(/\/$/u, '')

const labelOf = ({ plugin, part }: Owned<EndpointFacts>): string =>
  plugin === core ? part.name : `${part.name} of the plugin ${plugin}`

/** Rejects a setting for an endpoint that does not exist. */
function assertNames(endpoints: object, names: Iterable<string>): void {
  const entries = Object.fromEntries([...names].map((name) => [name, v.optional(v.any())]))
  parseConfiguration(v.object({ endpoints: configurationObject(entries) }), { endpoints }, 'createProvider()')
}

/**
 * Returns the paths of all enabled endpoints.
 *
 * @throws TypeError when two endpoints have the same name, path or member of the discovery document, or an option names
 * no endpoint.
 */
export function endpointPaths(
  options: {
    readonly issuer: string
    readonly endpoints: Readonly<Record<string, EndpointSwitch | undefined>>
    readonly authorizationEndpoint?: string | undefined
  },
  registry: Pick<Registry, 'endpoints'>,
): EndpointPaths {
  const installed: readonly Owned<EndpointFacts>[] = [
    ...builtInEndpoints.map((part) => ({ plugin: core, part })),
    ...registry.endpoints,
  ]
  const byName = byClaim(installed, 'the endpoint', ({ name }) => name)
  assertNames(options.endpoints, byName.keys())
  const published = installed.filter(({ part }) => part.metadataName !== undefined)
  const byMember = byClaim(published, 'the discovery member', ({ metadataName }) => String(metadataName))
  const authorization = byMember.get('authorization_endpoint')
  if (authorization !== undefined && options.authorizationEndpoint !== undefined) {
    throw new TypeError(
      `authorizationEndpoint: ${authorization.plugin} provides the authorization endpoint; remove the option or the plugin`,
    )
  }

  const base = issuerPath(options.issuer)
  const paths = new Map<string, string>()
  const byPath = new Map<string, Owned<EndpointFacts>>()
  for (const [name, owned] of byName) {
    const setting = options.endpoints[name] ?? true
    if (setting === false) continue
    const { path: defaultPath, beforeIssuerPath } = owned.part
    const relative = setting === true ? defaultPath : setting
    const path = beforeIssuerPath ? `${relative}${base}` : `${base}${relative}`
    const taken = byPath.get(path)
    if (taken !== undefined) {
      throw new TypeError(`endpoints: ${labelOf(taken)} and ${labelOf(owned)} have the same path ${path}`)
    }
    byPath.set(path, owned)
    paths.set(name, path)
  }
  for (const endpoint of registry.endpoints) endpoint.assertNoneBelow?.(paths)
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
