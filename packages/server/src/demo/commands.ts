// RFC 7636 appendix B: a verifier that everybody knows, like everything in the demo.
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

/**
 * Commands for another terminal (sh with curl and node): a token by each grant, and what can be asked about it. Headings are
 * echoed: an interactive zsh would run a comment.
 */
export const demoCommands = (issuer: string): string => `\
BASE=${issuer}
field() { node -pe 'JSON.parse(require("fs").readFileSync(0, "utf8"))[process.argv[1]]' "$1"; }

echo '# A token by client credentials, and what an API learns of it with the secret of its scope'
TOKEN=$(curl -s $BASE/connect/token -u demo:demo-secret -d grant_type=client_credentials -d scope=api1 | field access_token); echo "$TOKEN"
curl -s $BASE/connect/introspect -u api1:api1-secret -d token=$TOKEN; echo

echo '# A token by password, and the claims of the user'
ANSWER=$(curl -s $BASE/connect/token -u demo:demo-secret -d grant_type=password -d username=alice -d password=alice-password --data-urlencode 'scope=openid profile roles offline_access api1'); echo "$ANSWER"
TOKEN=$(echo "$ANSWER" | field access_token); REFRESH=$(echo "$ANSWER" | field refresh_token)
curl -s $BASE/connect/userinfo -H "Authorization: Bearer $TOKEN"; echo

echo '# The next tokens by refresh token (it is replaced by a new one)'
curl -s $BASE/connect/token -u demo:demo-secret -d grant_type=refresh_token -d refresh_token=$REFRESH; echo

echo '# A token by code with a verifier; /demo/authorize stands in for your login page'
CODE=$(curl -s $BASE/demo/authorize -d username=alice -d password=alice-password -d client_id=demo-spa -d redirect_uri=$BASE/demo/callback --data-urlencode 'scope=openid profile api1' -d code_challenge=${challenge} | field code)
ANSWER=$(curl -s $BASE/connect/token -d client_id=demo-spa -d grant_type=authorization_code -d code=$CODE -d redirect_uri=$BASE/demo/callback -d code_verifier=${verifier}); echo "$ANSWER"
TOKEN=$(echo "$ANSWER" | field access_token); IDENTITY=$(echo "$ANSWER" | field id_token)

echo '# The identity token, validated: every claim a string'
curl -s $BASE/connect/identitytokenvalidation -d token=$IDENTITY -d client_id=demo-spa; echo

echo '# The access token, validated: with a scope that it holds, and with one that it does not'
curl -s $BASE/connect/accesstokenvalidation -d token=$TOKEN -d expectedScope=api1; echo
curl -s $BASE/connect/accesstokenvalidation -d token=$TOKEN -d expectedScope=api2; echo

echo '# A token by the custom grant of the demo: the office badge of alice'
curl -s $BASE/connect/token -u demo:demo-secret -d grant_type=urn:example:badge -d badge_id=123456 -d scope=api1; echo

echo '# A token that its client revokes, and what an API learns of it then'
TOKEN=$(curl -s $BASE/connect/token -u demo:demo-secret -d grant_type=client_credentials -d scope=api1 | field access_token)
curl -s $BASE/connect/revocation -u demo:demo-secret -d token=$TOKEN
curl -s $BASE/connect/introspect -u api1:api1-secret -d token=$TOKEN; echo

echo '# Where a client finds everything, and the public keys that check the signature of a JWT'
curl -s $BASE/.well-known/openid-configuration | field token_endpoint
curl -s $BASE/.well-known/oauth-authorization-server | field jwks_uri
curl -s $BASE/.well-known/jwks; echo
`
