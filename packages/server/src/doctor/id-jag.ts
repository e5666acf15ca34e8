import type { NamedPlugin } from '../configuration/named-plugins.ts'
import type { Facts } from './facts.ts'
import { type Finding, finding } from './finding.ts'

type IdJag = Extract<NamedPlugin, { readonly name: 'id-jag' }>

const urn = 'urn:ietf:params:oauth:grant-type:'

function checkAccept(
  { issuers, jwksUri }: NonNullable<IdJag['accept']>,
  path: string,
  { clients, hasExternalClients, configuration: { administration }, metadata }: Facts,
): readonly Finding[] {
  const canPresent = hasExternalClients || clients.some(({ grantTypes }) => grantTypes.includes(`${urn}jwt-bearer`))
  const shared = issuers.findIndex(({ subject }) => subject === 'same')
  const known = metadata.scopes_supported
  const unknown = issuers.flatMap(({ scopes = [] }, index) =>
    // Those in the storage can come later.
    administration || !Array.isArray(known)
      ? []
      : scopes
          .filter((name) => !known.includes(name))
          .map((name) =>
            finding(
              'assertion-scope-unknown',
              `${path}.issuers[${index}].scopes`,
              `The scope ${name} is not declared, so no assertion gives it`,
            ),
          ),
  )
  return [
    ...unknown,
    ...(canPresent
      ? []
      : [finding('assertion-client-missing', path, `No client has the grant type ${urn}jwt-bearer to present one`)]),
    ...(shared !== -1 && issuers.length > 1
      ? [
          finding(
            'assertion-users-shared',
            `${path}.issuers[${shared}].subject`,
            'This identity provider can name every user, also those of the other identity providers',
          ),
        ]
      : []),
    ...(jwksUri?.allowPrivateAddresses === true
      ? [
          finding(
            'jwks-uri-private',
            `${path}.jwksUri.allowPrivateAddresses`,
            'The keys of identity providers are fetched from addresses of the own network',
          ),
        ]
      : []),
  ]
}

function checkIssue(
  { servers }: NonNullable<IdJag['issue']>,
  path: string,
  { clients, hasExternalClients }: Facts,
): readonly Finding[] {
  const canExchange = (id: string): boolean =>
    hasExternalClients ||
    clients.some(({ clientId, grantTypes }) => clientId === id && grantTypes.includes(`${urn}token-exchange`))
  return servers.flatMap((server, index) => {
    const where = `${path}.servers[${index}]`
    return [
      ...server.clients.flatMap(({ clientId }, at) =>
        canExchange(clientId)
          ? []
          : [
              finding(
                'assertion-client-missing',
                `${where}.clients[${at}].clientId`,
                `${clientId} is not a client with the grant type ${urn}token-exchange`,
              ),
            ],
      ),
      ...(clients.some(({ clientId }) => clientId === server.issuer)
        ? [
            finding(
              'assertion-as-identity-token',
              `${where}.issuer`,
              'A client has this id: if it ignores typ, it accepts an assertion as an identity token',
            ),
          ]
        : []),
    ]
  })
}

/** Checks the two sides of identity assertions. */
export const checkIdJag = ({ accept, issue }: IdJag, path: string, facts: Facts): readonly Finding[] => [
  ...(accept === undefined ? [] : checkAccept(accept, `${path}.accept`, facts)),
  ...(issue === undefined ? [] : checkIssue(issue, `${path}.issue`, facts)),
]
