/** The claims of the access token in a token response. Does not verify the signature. */
export const claimsOf = ({ access_token }: { readonly access_token: string }) =>
  JSON.parse(Buffer.from(access_token.split('.')[1] ?? '', 'base64url').toString())
