/** The parameters of an authorization request, under their wire names. */
export type AuthorizationParameters = Readonly<Record<string, string>>
