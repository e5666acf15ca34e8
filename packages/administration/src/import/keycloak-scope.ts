import { isJsonObject } from '@grantry/core'
import type { Members } from '../differences.ts'
import { idProblem, isStandardScope } from './client-draft.ts'
import { type Finding, objectsIn } from './imported.ts'
import { createReader, type Reader } from './reader.ts'

/** Scopes of every realm that only add claims of Keycloak. */
const technicalScopes: readonly string[] = [
  'web-origins',
  'acr',
  'basic',
  'microprofile-jwt',
  'role_list',
  'saml_organization',
  'service_account',
  'organization',
]

export const isTechnicalScope = (name: string): boolean => technicalScopes.includes(name)

const attributeMappers: readonly unknown[] = ['oidc-usermodel-attribute-mapper', 'oidc-usermodel-property-mapper']

/** Reports a mapper without a counterpart. */
export function noteMapper({ name, protocolMapper: type }: Members, { note }: Reader): void {
  const what = `the mapper ${String(name)} (${String(type)}) has no counterpart`
  if (type === 'oidc-sha256-pairwise-sub-mapper')
    note('protocolMappers', `${what}: users of the client get another sub`, 'sub')
  else note('protocolMappers', what, 'token')
}

/** What the mappers of a scope add. */
interface Mapped {
  readonly claims: readonly string[]
  readonly audience: string | undefined
  readonly isIdentity: boolean
}

function readMappers(mappers: unknown, reader: Reader): Mapped {
  const claims: string[] = []
  let audience: string | undefined
  let isIdentity = false
  for (const mapper of objectsIn(mappers)) {
    const config = isJsonObject(mapper.config) ? mapper.config : {}
    const claim = config['claim.name']
    const included = config['included.custom.audience'] ?? config['included.client.audience']
    if (attributeMappers.includes(mapper.protocolMapper) && typeof claim === 'string') {
      claims.push(claim)
      isIdentity ||= config['userinfo.token.claim'] === 'true' || config['id.token.claim'] === 'true'
    } else if (
      mapper.protocolMapper === 'oidc-audience-mapper' &&
      typeof included === 'string' &&
      audience === undefined
    ) {
      audience = included
    } else {
      noteMapper(mapper, reader)
    }
  }
  return { claims, audience, isIdentity }
}

/** Reads a client scope of a realm. */
export function keycloakScope(exported: Members, findings: Finding[]): readonly Members[] {
  const name = String(exported.name ?? '')
  const entry = `client scope ${name}`
  if (isStandardScope(name) || isTechnicalScope(name)) return []
  const reader = createReader(exported, { entry, findings })
  const problem = idProblem(name)
  const protocol = reader.text('protocol') ?? 'openid-connect'
  if (protocol !== 'openid-connect' || problem !== undefined) {
    reader.note(
      undefined,
      `was left out: ${problem ?? `it belongs to the protocol ${protocol}`}`,
      problem === undefined ? 'cosmetic' : 'sign-in',
    )
    return []
  }
  const { claims, audience, isIdentity } = readMappers(reader.take('protocolMappers'), reader)
  // How the pages of Keycloak show it.
  reader.ignore(['name', 'id', 'description', 'attributes'])
  reader.end()
  return [
    {
      name,
      ...(isIdentity && audience === undefined && { identity: true }),
      ...(claims.length > 0 && { claims }),
      ...(audience !== undefined && { audience }),
    },
  ]
}
