/**
 * Keys by their members of the claim `cnf`: those that a token is bound to, or that a request has proved.
 *
 * @see RFC 7800 section 3.1
 */
export type Confirmation = Readonly<Record<string, string>>
