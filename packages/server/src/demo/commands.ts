// From RFC 7636 appendix B. Public, like every secret of the demo.
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

/**
 * Returns shell commands (sh, curl and node) that get a token with each grant and use it. Headings are echoed, because
 * an interactive zsh does not support comments.
 */
export const demoCommands = (issuer: string): string => `\
BASE=${issuer}
field() { node -pe 'JSON.parse(require("fs").readFileSync(0, "utf8"))[process.argv[1]]' "$1"; }

echo '# Client credentials grant: get a token, then introspect it as the API'
TOKEN=$(curl -s $BASE/connect/token -u demo:demo-secret -d grant_type=client_credentials -d scope=api1 | field access_token); echo "$TOKEN"
curl -s $BASE/connect/introspect -u api1:api1-secret -d token=$TOKEN; echo

echo '# Password grant: get tokens, then read the claims of the user'
ANSWER=$(curl -s $BASE/connect/token -u demo:demo-secret -d grant_type=password -d username=alice -d password=alice-password --data-urlencode 'scope=openid profile roles offline_access api1'); echo "$ANSWER"
TOKEN=$(echo "$ANSWER" | field access_token); REFRESH=$(echo "$ANSWER" | field refresh_token)
curl -s $BASE/connect/userinfo -H "Authorization: Bearer $TOKEN"; echo

echo '# Refresh token grant: get new tokens (the refresh token is replaced, too)'
curl -s $BASE/connect/token -u demo:demo-secret -d grant_type=refresh_token -d refresh_token=$REFRESH; echo

echo '# Authorization code grant with PKCE: sign in on the pages, as a browser does'
JAR=$(mktemp); hidden() { echo "$PAGE" | sed -n "s/.*name=\\"$1\\" value=\\"\\([^\\"]*\\)\\".*/\\1/p"; }
PAGE=$(curl -s -L -b $JAR -c $JAR "$BASE/connect/authorize?response_type=code&client_id=demo-spa&redirect_uri=$BASE/demo/callback&scope=openid%20profile%20api1&code_challenge=${challenge}&code_challenge_method=S256")
PAGE=$(curl -s -L -b $JAR -c $JAR $BASE/connect/signin -d interaction=$(hidden interaction) -d form_token=$(hidden form_token) -d username=alice -d password=alice-password)
CODE=$(curl -s -o /dev/null -w '%{redirect_url}' -b $JAR $BASE/connect/consent -d interaction=$(hidden interaction) -d form_token=$(hidden form_token) -d decision=allow | sed 's/.*code=\\([^&]*\\).*/\\1/'); rm $JAR
ANSWER=$(curl -s $BASE/connect/token -d client_id=demo-spa -d grant_type=authorization_code -d code=$CODE -d redirect_uri=$BASE/demo/callback -d code_verifier=${verifier}); echo "$ANSWER"
TOKEN=$(echo "$ANSWER" | field access_token); IDENTITY=$(echo "$ANSWER" | field id_token)

echo '# Validate the identity token (all claims are returned as strings)'
curl -s $BASE/connect/identitytokenvalidation -d token=$IDENTITY -d client_id=demo-spa; echo

echo '# Validate the access token: with a scope that it has, then with one that it does not have'
curl -s $BASE/connect/accesstokenvalidation -d token=$TOKEN -d expectedScope=api1; echo
curl -s $BASE/connect/accesstokenvalidation -d token=$TOKEN -d expectedScope=api2; echo

echo '# Custom grant: get a token with the office badge of alice'
curl -s $BASE/connect/token -u demo:demo-secret -d grant_type=urn:example:badge -d badge_id=123456 -d scope=api1; echo

echo '# Revoke a token, then introspect it: it is no longer active'
TOKEN=$(curl -s $BASE/connect/token -u demo:demo-secret -d grant_type=client_credentials -d scope=api1 | field access_token)
curl -s $BASE/connect/revocation -u demo:demo-secret -d token=$TOKEN
curl -s $BASE/connect/introspect -u api1:api1-secret -d token=$TOKEN; echo

echo '# Discovery documents, and the public keys that verify JWT signatures'
curl -s $BASE/.well-known/openid-configuration | field token_endpoint
curl -s $BASE/.well-known/oauth-authorization-server | field jwks_uri
curl -s $BASE/.well-known/jwks; echo
`
