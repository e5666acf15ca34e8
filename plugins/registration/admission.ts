import type { EndpointKit, JsonObject } from '@grantry/core'
import { initialTokens } from './initial-tokens.ts'
import { type AdmittedBy, createRegistrationLimits, type RegistrationLimits } from './limits.ts'
import type { Settings } from './registration-options.ts'
import { createSoftwareStatements, vouched } from './software-statement.ts'

/** A registration that may take place. */
export interface Admission {
  readonly by: AdmittedBy
  /** The sent metadata, without its scope, and with the claims of the statement, which take precedence. */
  readonly metadata: JsonObject
  /** Call it when nothing else can be wrong. @throws OAuthError if there were too many registrations. */
  readonly take: () => Promise<void>
}

/** A request to register or change a client. */
export interface SentMetadata {
  readonly metadata: JsonObject
  readonly clientAddress: string | undefined
}

/** Decides who may register a client. */
export interface Admissions extends Pick<RegistrationLimits, 'takeChange'> {
  /** @throws OAuthError if the caller may not */
  admit(sent: SentMetadata & { readonly bearer: string | undefined }, kit: EndpointKit): Promise<Admission>
  /** Returns metadata with the claims of its statement, and without its own scope. @throws OAuthError if the statement is not valid. */
  withStatement(metadata: JsonObject, kit: EndpointKit): Promise<JsonObject>
}

const statementText: Readonly<Record<string, string>> = {
  issuer_unknown: 'The issuer of the software statement is not trusted here',
  keys_unavailable: 'The keys of the issuer of the software statement are not available',
}

export function createAdmissions(settings: Settings): Admissions {
  const limits = createRegistrationLimits(settings)
  const statements =
    settings.softwareStatements === undefined ? undefined : createSoftwareStatements(settings.softwareStatements)

  async function withStatement(metadata: JsonObject, kit: EndpointKit): Promise<JsonObject> {
    // Drops the sent scope: SDKs send the scope of their first request, and ask users for others later. The scope of a
    // statement is a limit.
    const { software_statement: jwt, scope: _, ...others } = metadata
    // RFC 7591 section 3.1.1: a server can ignore it.
    if (jwt === undefined || jwt === null || statements === undefined) return others
    if (typeof jwt !== 'string') {
      throw kit.refuse('invalid_software_statement', 'software_statement must be a JWT', 'statement_malformed')
    }
    const { claims, reason } = await statements.verify(jwt, kit)
    if (claims !== undefined) return vouched(others, claims, jwt)
    const code = reason === 'issuer_unknown' ? 'unapproved_software_statement' : 'invalid_software_statement'
    const text = statementText[reason] ?? 'The software statement is not valid'
    throw kit.refuse(code, text, `statement_${reason}`.slice(0, 50))
  }

  return {
    withStatement,
    takeChange: limits.takeChange,
    async admit({ metadata: sent, bearer, clientAddress }, kit) {
      const limited = () => limits.take(clientAddress, kit)
      if (bearer !== undefined) {
        const takeUnit = await initialTokens.find(bearer, kit)
        if (takeUnit === undefined) {
          throw kit.refuse('invalid_token', 'The initial access token is not valid', 'initial_token_unknown')
        }
        const take = async (): Promise<void> => {
          if (await takeUnit()) return
          // No guess: it must not count against the address.
          throw kit.refuse(
            'access_denied',
            'The initial access token has no registration left',
            'initial_token_used_up',
          )
        }
        return { by: 'token', metadata: await withStatement(sent, kit), take }
      }
      const metadata = await withStatement(sent, kit)
      if (metadata.software_statement !== undefined) return { by: 'statement', metadata, take: limited }
      if (settings.open) return { by: 'open', metadata, take: limited }
      const needed = statements === undefined ? '' : ', or a software statement'
      throw kit.refuse('invalid_token', `Registration requires an initial access token${needed}`, 'token_missing', {
        withoutCredentials: true,
      })
    },
  }
}
