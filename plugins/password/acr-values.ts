/** Parsed `acr_values` (seed, section 2.1). `idp:` and `tenant:` have a meaning; other values are passed through. */
export interface AcrValues {
  /** The requested identity provider, if the client is allowed to request it. */
  readonly idp?: string
  readonly tenant?: string
  readonly acrValues?: readonly string[]
}

/** @param allowedProviders the identity providers that the client may request; empty allows any */
export function parseAcrValues(text: string | undefined, allowedProviders: readonly string[]): AcrValues {
  let idp: string | undefined
  let tenant: string | undefined
  const rest: string[] = []
  // A set, because repeated values have no extra meaning.
  for (const value of new Set(text?.split(' '))) {
    if (value === '') continue
    if (idp === undefined && value.startsWith('idp:')) idp = value.slice('idp:'.length)
    else if (tenant === undefined && value.startsWith('tenant:')) tenant = value.slice('tenant:'.length)
    else rest.push(value)
  }
  const mayAsk = idp !== undefined && (allowedProviders.length === 0 || allowedProviders.includes(idp))
  return {
    ...(mayAsk && idp !== undefined && { idp }),
    ...(tenant !== undefined && { tenant }),
    ...(rest.length > 0 && { acrValues: rest }),
  }
}
