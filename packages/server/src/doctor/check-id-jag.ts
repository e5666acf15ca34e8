import { each, type RulePart } from '../check-rules/rule.ts'
import { jwksUriPrivate } from './check-registration.ts'
import { type Named, unknownScopes } from './named.ts'

type IdJag = Named<'id-jag'>

const urn = 'urn:ietf:params:oauth:grant-type:'

const acceptOf = ({ plugin: { accept }, path, facts }: IdJag) =>
  accept === undefined ? [] : [{ ...accept, path: `${path}.accept`, facts }]

const serversOf = ({ plugin: { issue }, path, facts }: IdJag) =>
  (issue?.servers ?? []).map((server, index) => ({ ...server, path: `${path}.issue.servers[${index}]`, facts }))

const clientMissing = {
  id: 'assertion-client-missing',
  severity: 'warning',
  remedy: 'add the grant type to the client, or correct its id',
  source: 'docs/guides/mcp-in-a-company.md',
} as const

/** The rules for the two sides of identity assertions. */
export const idJagRules: readonly RulePart<IdJag>[] = [
  each(acceptOf, [
    {
      id: 'assertion-scope-unknown',
      severity: 'warning',
      remedy: 'correct the name, or add the scope to scopes',
      source: 'docs/guides/mcp-in-a-company.md',
      check: ({ issuers, path, facts }) =>
        issuers.flatMap(({ scopes = [] }, index) =>
          unknownScopes(scopes, facts).map((name) => ({
            where: `${path}.issuers[${index}].scopes`,
            reason: `The scope ${name} is not declared, so no assertion gives it`,
          })),
        ),
    },
    {
      ...clientMissing,
      check: ({ path: where, facts: { clients, hasExternalClients } }) =>
        !hasExternalClients &&
        !clients.some(({ grantTypes }) => grantTypes.includes(`${urn}jwt-bearer`)) && {
          where,
          reason: `No client has the grant type ${urn}jwt-bearer, so none can present an assertion`,
        },
    },
    {
      id: 'assertion-users-shared',
      severity: 'warning',
      remedy: 'remove subject, or trust this identity provider only',
      source: 'docs/guides/mcp-in-a-company.md',
      reason: 'This identity provider can name every user, even those of the other identity providers',
      check({ issuers, path }) {
        const shared = issuers.findIndex(({ subject }) => subject === 'same')
        return shared !== -1 && issuers.length > 1 && `${path}.issuers[${shared}].subject`
      },
    },
    {
      ...jwksUriPrivate,
      reason: 'The keys of identity providers can be fetched from any address in the network of this server',
      check: ({ jwksUri, path }) => jwksUri?.allowPrivateAddresses === true && `${path}.jwksUri.allowPrivateAddresses`,
    },
  ]),
  each(serversOf, [
    {
      ...clientMissing,
      check: ({ clients: allowed, path, facts: { clients, hasExternalClients } }) =>
        allowed.flatMap(({ clientId: id }, at) => {
          const canExchange =
            hasExternalClients ||
            clients.some(({ clientId, grantTypes }) => clientId === id && grantTypes.includes(`${urn}token-exchange`))
          const reason = `${id} is not a client with the grant type ${urn}token-exchange`
          return canExchange ? [] : [{ where: `${path}.clients[${at}].clientId`, reason }]
        }),
    },
    {
      id: 'assertion-as-identity-token',
      severity: 'warning',
      remedy: 'give the client an id that is not the issuer of the server',
      source: 'RFC 8725 section 3.11; docs/guides/mcp-in-a-company.md',
      reason: 'A client has this id: if it ignores typ, it accepts an assertion as an identity token',
      check: ({ issuer, path, facts: { clients } }) =>
        clients.some(({ clientId }) => clientId === issuer) && `${path}.issuer`,
    },
  ]),
]
