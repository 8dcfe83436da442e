export interface paths {
    "/v1/admin/audit-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who changed what in the account
         * @description Newest first, of the last 90 days. Pass `next_before_id` as `before_id` to get the next page.
         */
        get: operations["listAuditEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/audit-events/facets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The actions and persons of the audit trail
         * @description Each once, of the last 90 days: the values that `action` and `actor_id` of the list can have.
         */
        get: operations["listAuditFacets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the management keys of the account
         * @description Newest first; revoked ones for 90 days.
         */
        get: operations["listManagementKeys"];
        put?: never;
        /**
         * Create a management key
         * @description You own it: it has your current role, in this account only. The key is shown once.
         */
        post: operations["createManagementKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/keys/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke a management key
         * @description Any key of the account. Takes effect with the next request. Idempotent.
         */
        post: operations["revokeManagementKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cli/credential": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke the key of this request
         * @description Regardless of its owner’s role and its grant. Takes effect with the next request.
         */
        delete: operations["revokeCliCredential"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the price catalog
         * @description The prices of a UTC day, the current one when absent, in US dollars. A call is priced by the day it was made on; prices of later days are those that are announced. Custom prices of a provider are part of the provider, not of this list.
         */
        get: operations["listModelPrices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read your identity and current organization
         * @description Also for a signed-in person who belongs to no organization: then `organization` and `role` are null.
         */
        get: operations["getAdminSession"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/organizations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the organizations you belong to */
        get: operations["listOrganizations"];
        put?: never;
        /**
         * Create another organization
         * @description You own it. Choose it to act in it.
         */
        post: operations["createOrganization"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/organizations/select": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Choose your current organization
         * @description The answer sets a cookie with the choice; keys are bound to one organization.
         */
        post: operations["selectOrganization"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/organizations/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Claim the account of the bootstrap key
         * @description For the first person who presents `BOOTSTRAP_MANAGEMENT_KEY`. The key stays valid; the answer sets the cookie that makes the account your current one.
         */
        post: operations["claimOrganization"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/organizations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Rename your current organization */
        patch: operations["renameOrganization"];
        trace?: never;
    };
    "/v1/admin/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the members of the organization */
        get: operations["listMembers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/members/{user}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Give a member another role
         * @description Takes effect with their next request. Only owners add or demote owners, and one owner always remains.
         */
        put: operations["updateMember"];
        post?: never;
        /**
         * Remove a member, or leave
         * @description Permanently revokes their management keys in this organization. Anyone may leave; admins remove others, owners remove owners. One owner always remains.
         */
        delete: operations["removeMember"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the invitations into the organization */
        get: operations["listInvitations"];
        put?: never;
        /**
         * Invite a person into the organization
         * @description Returns a link that works once, for seven days. With an address and `SMTP_URL` it is mailed too.
         */
        post: operations["createInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/invitations/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke an invitation
         * @description Its link stops working at once. Idempotent.
         */
        post: operations["revokeInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/console/invitations/details": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read what an invitation offers
         * @description Requires the link. A used, revoked or expired one is not found.
         */
        post: operations["getInvitationDetails"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/console/invitations/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Join the organization you are invited to
         * @description The link works once; the person who used it gets the same answer again.
         */
        post: operations["acceptInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/sign-up/email": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register with a password
         * @description Open until the first person registers, or if the operator allows it; an invitation and the bootstrap key of an unclaimed account are always accepted. The answer sets the session’s cookie. A person without an invitation gets an organization of their own.
         */
        post: operations["signUp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/sign-in/email": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in with a password
         * @description The answer sets the session’s cookie; the browser’s previous session ends.
         */
        post: operations["signIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/get-session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read who is signed in
         * @description `null` without a session. Once a day the session is renewed and its cookie set again.
         */
        get: operations["getSession"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/sign-out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign out
         * @description The same answer without a session.
         */
        post: operations["signOut"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/change-password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change your password
         * @description Ends all your sessions; the answer sets the cookie of a new one.
         */
        post: operations["changePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/update-user": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Change your name or picture */
        post: operations["updateUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/list-sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your sessions
         * @description Most recently used first.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/revoke-session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End one of your sessions
         * @description Takes effect with its next request, on every instance.
         */
        post: operations["revokeSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/revoke-sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign out everywhere
         * @description Ends all your sessions, this one included. Management keys and connections stay.
         */
        post: operations["revokeSessions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/passkeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List your passkeys */
        get: operations["listPasskeys"];
        put?: never;
        /**
         * Add a passkey
         * @description Takes what the browser returned for the options; all members are base64url. It must verify the person.
         */
        post: operations["createPasskey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/passkeys/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start adding a passkey
         * @description Within 15 minutes after the sign-in of the session.
         */
        post: operations["startPasskey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/passkeys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a passkey
         * @description Within 15 minutes after the sign-in of the session. Sessions stay.
         */
        delete: operations["removePasskey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/sign-in/passkey/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a sign-in with a passkey
         * @description The answer sets a cookie: only this browser can use the challenge.
         */
        post: operations["startPasskeySignIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/sign-in/passkey": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in with a passkey
         * @description Takes what the browser returned for the options; all members are base64url. The answer sets the session’s cookie. Every failure is the same 401.
         */
        post: operations["signInWithPasskey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/members/{user}/password-reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a link for a member to set a new password
         * @description For owners, within 15 minutes after the sign-in of the session. Valid once, for a day; another link replaces it. Only if you own every account of the person.
         */
        post: operations["createPasswordReset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/recovery-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Count your recovery codes */
        get: operations["countRecoveryCodes"];
        put?: never;
        /**
         * Replace your recovery codes
         * @description Ten new ones; the old ones no longer work. Within 15 minutes after the sign-in of the session.
         */
        post: operations["replaceRecoveryCodes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set a new password with a recovery code
         * @description The code is used up and all sessions end; the answer sets the cookie of a new one.
         */
        post: operations["recover"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/reset-password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set a new password with a link from an owner
         * @description The link is used up and all sessions of the person end; they sign in with the new password.
         */
        post: operations["resetPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/sign-in/social": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a sign-in with Google
         * @description Redirect the browser to `url`; the same browser must return within ten minutes.
         */
        post: operations["signInWithGoogle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/callback/google": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Complete a sign-in with Google
         * @description Google redirects the browser here. Redirects to `callbackURL`, signed in; otherwise to `errorCallbackURL` with `error`: `access_denied`, `registration_disabled`, `account_exists`, `invitation_invalid`, `sign_in_expired` or `sign_in_failed`.
         */
        get: operations["googleCallback"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/console/capabilities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the features of the console */
        get: operations["getConsoleCapabilities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the provider instances of the account */
        get: operations["listProviders"];
        put?: never;
        /**
         * Add a provider instance
         * @description Stores the key sealed, or names the upstream gateway that has the credential. The provider is not called; test first.
         */
        post: operations["createProvider"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/providers/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a key without storing it
         * @description Makes one cheap authenticated call. A refused key is an error; any other outcome is returned as a result.
         */
        post: operations["testProviderCredential"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/providers/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test the stored key of a provider instance
         * @description As `providers/test`, with the stored key, or the token of its gateway. Keeps the result as `lastTest`.
         */
        post: operations["testProvider"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/providers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change a provider instance
         * @description Changes only the given members. Type and slug stay. `revision`, when sent, must be the stored one; without it there is no conflict.
         */
        put: operations["updateProvider"];
        post?: never;
        /**
         * Delete a provider instance
         * @description Permanently deletes key and prices. Calls of applications that name it fail with `provider_not_configured`.
         */
        delete: operations["deleteProvider"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/provider-gateways": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the upstream gateways of the account */
        get: operations["listProviderGateways"];
        put?: never;
        /**
         * Add an upstream gateway
         * @description Stores the token sealed. The gateway is not called; test the token first.
         */
        post: operations["createProviderGateway"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/provider-gateways/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a token without storing it
         * @description Makes one cheap authenticated call through the gateway. Every outcome is returned as a result, not as an error.
         */
        post: operations["testProviderGateway"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/provider-gateways/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete an upstream gateway
         * @description Permanently deletes its token. Refused while any provider, disabled ones included, is routed through it.
         */
        delete: operations["deleteProviderGateway"];
        options?: never;
        head?: never;
        /**
         * Rename an upstream gateway
         * @description Type, configuration and token stay. `revision`, when sent, must be the stored one.
         */
        patch: operations["updateProviderGateway"];
        trace?: never;
    };
    "/v1/admin/provider-gateways/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the token of an upstream gateway
         * @description Every provider that is routed through it uses the new token within a second. The gateway is not called; test the token first. `revision`, when sent, must be the stored one.
         */
        post: operations["rotateProviderGateway"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the keys of an application */
        get: operations["listAppKeys"];
        put?: never;
        /**
         * Issue a key
         * @description Only for applications with authentication type `api_key`. The key is shown once. It does not expire without `expires_at`.
         */
        post: operations["createAppKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/keys/{key}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke a key
         * @description Takes effect everywhere within a minute, normally at once. Idempotent.
         */
        post: operations["revokeAppKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Usage of an application in one month
         * @description UTC calendar months; the current one by default.
         */
        get: operations["getAppUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Recorded requests of an application
         * @description Newest first. Pass `next_before_id` as `before_id` to get the next page.
         */
        get: operations["listAppEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/usage/timeseries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Usage of an application day by day
         * @description UTC days; the last thirty by default.
         */
        get: operations["getAppUsageTimeseries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/usage/breakdown": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Usage of an application by one dimension
         * @description UTC days; the last thirty by default. By `model`, `provider` and `status` it covers all time, by others the last 90 days; `complete_from` is the first day that the rows cover completely.
         */
        get: operations["getAppUsageBreakdown"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Usage of the account
         * @description UTC days, the last thirty by default, of all applications, deleted ones included, or of one. `previous` is the period before: the previous month of a calendar month, otherwise as many days.
         */
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/usage/timeseries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Usage of the account day by day, or hour by hour
         * @description UTC days, the last thirty by default; with `unit=hour` the hours of one day, today by default.
         */
        get: operations["getUsageTimeseries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/usage/breakdown": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Usage of the account by one dimension
         * @description UTC days; the last thirty by default. By `app`, `model`, `provider` and `status` it covers all time, by others the last 90 days; `complete_from` is the first day that the rows cover completely.
         */
        get: operations["getUsageBreakdown"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/usage/breakdown.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Usage of the account by one dimension, as CSV
         * @description All rows of the breakdown. Money is exact, in US dollars.
         */
        get: operations["getUsageBreakdownCsv"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/usage/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Recorded requests of the account
         * @description Newest first; UTC days, the last thirty by default. Pass `next` as `before` to get the next page. Each request searches a part of the period, so a page that is not full may have a `next`.
         */
        get: operations["listUsageEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/usage/events.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Recorded requests of the account, as CSV
         * @description All of the period, newest first, as they are read. Money is exact, in US dollars.
         */
        get: operations["getUsageEventsCsv"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/usage/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the usage events of the account
         * @description Newest first, in pages of about 10 000: pass `X-Next-Cursor` as `cursor` until an answer has none. The concatenated pages are the export. It ends at `settled_until` of the manifest, as of its first page, if `until` is later.
         */
        get: operations["exportUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/usage/export/manifest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Describe an export of usage
         * @description Rows, sum and SHA-256 of the export with the same parameters. Reads the whole export.
         */
        get: operations["getUsageExportManifest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/usage/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the usage events of an application
         * @description Newest first, in pages of about 10 000: pass `X-Next-Cursor` as `cursor` until an answer has none. The concatenated pages are the export. It ends at `settled_until` of the manifest, as of its first page, if `until` is later.
         */
        get: operations["exportAppUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/usage/export/manifest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Describe an export of the usage of an application
         * @description Rows, sum and SHA-256 of the export with the same parameters. Reads the whole export.
         */
        get: operations["getAppUsageExportManifest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/usage/reprice": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recompute the cost of a model in one month at the prices now known
         * @description Each event gets the price of its UTC day. A preview unless `apply` is true; then all changes are written, or none if an event has no price. Reported costs, refused requests and events older than 90 days are not changed. At most 10 000 events.
         */
        post: operations["repriceAppUsage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/usage/settle-estimates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the estimates of one month by actual costs
         * @description For calls whose usage is unknown, and which count an estimate against budgets. A preview unless `apply` is true; then all changes are written, and budgets include them at once. At most 10 000 events at a time, the oldest first: `has_more` says whether to repeat. Events older than 90 days are not included. A settled event no longer has an estimate and is not repriced.
         */
        post: operations["settleAppEstimates"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the users of an application
         * @description With their usage of one UTC month. Pass `next_cursor` as `cursor` to get the next page: users who do not change meanwhile appear exactly once.
         */
        get: operations["listAppUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/users/{user}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a user */
        get: operations["getAppUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/users/{user}/block": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Block a user
         * @description Any id can be blocked, even before its first call. Exchanges are refused immediately; valid tokens stop working within ten seconds. Idempotent. A user identified by an install escapes a block by reinstalling.
         */
        post: operations["blockAppUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/users/{user}/unblock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Unblock a user
         * @description Idempotent.
         */
        post: operations["unblockAppUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/users/{user}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export every row about a user
         * @description One line of JSON for each row, table by table: `{"table", "row"}`, with the columns of docs/schema.md.
         */
        get: operations["exportAppUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/user": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a user named in the query
         * @description For ids that URL libraries change in a path, such as those with a slash.
         */
        get: operations["getNamedAppUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/user/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export every row about a user named in the query
         * @description For ids that URL libraries change in a path, such as those with a slash.
         */
        get: operations["exportNamedAppUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/user/block": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Block a user named in the query
         * @description For ids that URL libraries change in a path, such as those with a slash.
         */
        post: operations["blockNamedAppUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/user/unblock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Unblock a user named in the query
         * @description For ids that URL libraries change in a path, such as those with a slash.
         */
        post: operations["unblockNamedAppUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/mail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read which events of the account are mailed to you */
        get: operations["getMail"];
        /**
         * Choose which events of the account are mailed to you
         * @description Each member chooses for themselves. The types are those of webhooks.
         */
        put: operations["updateMail"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the webhooks of the account */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Add a webhook
         * @description At most 20. Events are signed by the Standard Webhooks convention; the secret is shown once.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a webhook */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /** Delete a webhook with its deliveries */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Change a webhook
         * @description Absent members stay. `enabled: true` also enables a webhook that the gateway disabled.
         */
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/v1/admin/webhooks/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the secret of a webhook
         * @description For a day both secrets sign, so that the receiver can replace its own. The new one is shown once.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event now
         * @description One attempt of type `webhook.test`, regardless of the filters. Every outcome is returned as a result, not as an error.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of a webhook
         * @description Newest first, of the last 30 days. Pass `next_before_id` as `before_id` to get the next page.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/webhooks/{id}/deliveries/{delivery}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a delivery with its body
         * @description For 30 days. The body has no secret.
         */
        get: operations["getWebhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/webhooks/{id}/deliveries/{delivery}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again
         * @description Within a second, with the same `webhook-id`.
         */
        post: operations["resendWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/attention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What needs attention in the account
         * @description The current state: an item disappears once it is fixed.
         */
        get: operations["listAttention"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List applications
         * @description With their usage of one UTC month. All of them, or a page of `limit`: get the next one with `offset`, or by id with the last one as `after_id`.
         */
        get: operations["listApps"];
        put?: never;
        /**
         * Create an application
         * @description The id is assigned. An application with authentication type `api_key` gets its first key, shown once.
         */
        post: operations["createApp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an application */
        get: operations["getApp"];
        /**
         * Replace an application
         * @description A full replace, guarded by the `revision` that was read. Never creates.
         */
        put: operations["updateApp"];
        post?: never;
        /**
         * Delete an application
         * @description Permanently, with its keys and users. Recorded usage stays.
         */
        delete: operations["deleteApp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check an application body without saving
         * @description Takes the body of a creation or of a replacement, and refuses what a replacement would refuse.
         */
        post: operations["validateApp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check the body of a new application
         * @description Applies the checks of a creation, except for account limits. Saves nothing.
         */
        post: operations["validateAppDraft"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check the stored application
         * @description Sends no inference. Refused when the stored configuration is no longer valid.
         */
        get: operations["checkApp"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/snippet": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an example call of an application
         * @description Source code that calls a provider or a named endpoint as the application does.
         */
        get: operations["getAppSnippet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/providers/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the use and the results of the provider instances
         * @description For each instance the applications that can reach it, by routing or by an endpoint, and its calls of the last seven UTC days. A call that a fallback answered counts for the fallback.
         */
        get: operations["getProviderUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/operations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the state of an operation
         * @description A change requested by a terminal or an AI client. Never returns a key.
         */
        get: operations["getOperation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/operations/{id}/reveal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reveal the key that an operation issued
         * @description Once, within 15 minutes of the change; only for operations of AI clients.
         */
        post: operations["revealOperation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cli/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log in a terminal
         * @description Opens a login that a person approves within 15 minutes at `url`, or at `/cli` with `userCode`. The same token returns the state of the login. `pollCliOperation` returns the key, or with `loopbackRedirect` `redeemCliLogin`.
         */
        post: operations["openCliLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cli/login/{id}/redeem": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange the one-time code for the key
         * @description For logins with `loopbackRedirect`; works once.
         */
        post: operations["redeemCliLogin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cli/bootstrap": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open the first account of an empty deployment
         * @description Returns its key. The same token returns the same key within 15 minutes, later a new one that replaces it, and none after the account is claimed.
         */
        post: operations["bootstrapCliAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cli/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the account from a terminal
         * @description Runs at once, or returns the `url` of a page where a person types the provider’s key or claims the account, within 15 minutes. The same request with the same token returns the state, and issued keys for 15 minutes.
         */
        post: operations["createCliOperation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cli/operations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the state of an operation
         * @description Only the first answer after the approval of a login has its key.
         */
        get: operations["pollCliOperation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cli/browser/lookup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Find a login by its user code */
        post: operations["cliBrowserLookup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cli/browser/{id}/details": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read what is waiting for approval
         * @description Changes nothing.
         */
        post: operations["cliBrowserDetails"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cli/browser/{id}/submit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve
         * @description A login and a claim need a signed-in person; the others run as the credential that sent them. Idempotent.
         */
        post: operations["cliBrowserSubmit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cli/browser/{id}/deny": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decline
         * @description Requires the link or the code, not a session; a signed-in person’s denial is in their audit trail. Idempotent.
         */
        post: operations["cliBrowserDeny"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cli/browser/{id}/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register to approve a login or a claim
         * @description As `signUp`; the answer sets the session’s cookie. For a claim registration is always open, and the person gets no account of their own.
         */
        post: operations["cliBrowserRegister"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cli/browser/{id}/google": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in with Google to approve a login or a claim
         * @description Redirect the browser to `url`; it returns to the approval page, which needs the proof again.
         */
        post: operations["cliBrowserGoogle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cli/capabilities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read what this deployment offers to terminals */
        get: operations["getCliCapabilities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cli/account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the account of the credential */
        get: operations["getCliAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cli/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Test streaming
         * @description Sends parts of an event stream over half a second. A buffering proxy delivers them all at once.
         */
        get: operations["getCliStream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/cli/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the usage of the account in a month
         * @description Of all applications, deleted ones included.
         */
        get: operations["getCliUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/console/oauth/{id}/details": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read which client requests access
         * @description Changes nothing.
         */
        post: operations["getOauthConsentDetails"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/console/oauth/{id}/allow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give the client access to one of your accounts
         * @description For signed-in people of any role. Idempotent; the first decision is final.
         */
        post: operations["allowOauthConsent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/console/oauth/{id}/guest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give the client access without a person
         * @description Only while the deployment is empty: opens its first account, owned by the connection until a person claims it, with the grant `manage`. Idempotent.
         */
        post: operations["continueOauthWithoutAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/console/oauth/{id}/deny": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decline the client
         * @description Requires the link, not a session. Idempotent.
         */
        post: operations["denyOauthConsent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/play-integrity/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the credentials that decode integrity tokens
         * @description At most one of each kind, with a hint; no secret is returned.
         */
        get: operations["listPlayIntegrityCredentials"];
        /**
         * Set or rotate the credentials that decode integrity tokens
         * @description Sealed in the vault, never returned. Exactly one kind; it replaces the one of the same kind, and the next registration uses it. The vendor is not called.
         */
        put: operations["putPlayIntegrityCredentials"];
        post?: never;
        /**
         * Delete the credentials that decode integrity tokens
         * @description Both kinds. Afterwards registrations with Play Integrity fail with 503; registered keys stay valid. Idempotent.
         */
        delete: operations["deletePlayIntegrityCredentials"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/auth-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Attempts to register devices and to exchange tokens
         * @description Newest first. Pass `next_before_id` as `before_id` to get the next page.
         */
        get: operations["listAppAuthEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/auth-events/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Summarize the attempts of the last days
         * @description Days are UTC; the last one is today.
         */
        get: operations["getAppAuthEventSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps/{app}/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the limits and usage of the calling user
         * @description The user’s own limits and what is left of them. Counts against no limit.
         */
        get: operations["getCurrentUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/apps/{app}/enforcement-preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview whom enforcement of proofs would refuse
         * @description Checks the recorded attempts of devices that were admitted against a configuration of device proofs. Changes nothing.
         */
        post: operations["previewAppEnforcement"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps/{app}/auth/challenge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a challenge for a device to sign
         * @description Valid once, for five minutes, for this application. A body is ignored.
         */
        post: operations["createAppAttestChallenge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps/{app}/auth/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register a device
         * @description App Attest: the device signs the SHA-256 of the 32 bytes that the challenge encodes. Android key attestation: these bytes are the attestation challenge of a new key. Play Integrity: `requestHash` or `nonce` of the token is base64url of the SHA-256 of the text that an exchange signs. `proof` names the proof; absent, it is `app_attest`, and an application of App Attest alone ignores it. `issuer_token` is required where users sign in, and refused elsewhere. Unknown members are ignored.
         */
        post: operations["registerAppAttestKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps/{app}/auth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a proof for a gateway token
         * @description By application: a device’s assertion or signature, with `issuer_token` where users sign in; or an API key with `issuer_token`. An assertion signs the SHA-256 of this text, a signature the text itself: `{"app":"<app>","challenge":"<challenge>","key_id":"<key_id>"}`: these members in this order, no blanks, `/` not escaped.
         */
        post: operations["exchangeGatewayToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps/{app}/proxy/{provider}/v1/oauth/app-attest/challenge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get a challenge for a key of the framework’s client
         * @description Valid five minutes, once, for this application and key. A pending one is issued again.
         */
        post: operations["createFrameworkClientChallenge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps/{app}/proxy/{provider}/v1/oauth/app-attest/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register a key of the framework’s client, and get its first token
         * @description The device signs the SHA-256 of the 32 bytes of the pending challenge.
         */
        post: operations["registerFrameworkClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps/{app}/proxy/{provider}/v1/oauth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange an assertion of the framework’s client for a gateway token
         * @description A form, or JSON. The assertion signs SHA-256 of `anthropic-app-attest-token-v1`, the 32 bytes of the pending challenge, the application’s id in UTF-8 and the 32 bytes of the key id, one after the other.
         */
        post: operations["exchangeFrameworkClientToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps/{app}/proxy/{provider}/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Call a provider in its own request format
         * @description Checked, recorded and sent to the provider with the operator’s key; the answer is relayed as it arrives, streams unbuffered. POST, unless the application allows the path with other methods, GET for lists of models; a GET or DELETE has no body. Provider errors are relayed unchanged: an `error.code` of this document means that the gateway answered.
         */
        post: operations["proxyProviderRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps/{app}/endpoints/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Call a named endpoint of the application
         * @description The endpoint’s configuration determines provider, model, parameters and fallbacks. Style `responses`: a Responses body; the endpoint’s `params` are merged over it and take precedence, `model` may be left out and is overwritten. Style `transcription`: a form with the audio as `file`; `model` may be left out and is overwritten. A target that cannot be reached, is rate limited or fails is replaced by the next one while nothing has been answered. The answer is the serving provider’s own, streams unbuffered.
         */
        post: operations["callNamedEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps/{app}/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the models that the caller may use
         * @description Of all active providers that the application allows: priced models of the catalog and of custom prices, and the names of `model_rewrites`. Counts against no limit and calls no provider.
         */
        get: operations["listUsableModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps/{app}/streams/{stream}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Resume an answer after its connection was lost
         * @description For answers of applications with `streams`: the bytes from `offset` on, as sent to the client of the call, and the rest as it arrives. An incomplete answer is cut off at its end. Does not count against limits and costs nothing.
         */
        get: operations["readStream"];
        put?: never;
        post?: never;
        /**
         * Stop a call whose answer is still arriving
         * @description Cancels the call at the provider and settles its usage; the received part stays readable.
         */
        delete: operations["stopStream"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Is the process alive?
         * @description Always 200. `vault` is `misconfigured` when no provider key can be decrypted.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Can this instance take calls?
         * @description 200 when every dependency works, 503 with the same body when one does not or the instance stops soon.
         */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/deployment": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the state of the deployment
         * @description Only for owners of the first account. Instances as of the last heartbeat.
         */
        get: operations["getDeployment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the metrics of this instance
         * @description Counters and gauges in the Prometheus text format: of this process, or of all workers that share its port. Requires the bearer `METRICS_TOKEN`; if that is not set, only requests from the same machine are allowed, without one.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "app.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An application was created. */
        post: operations["onAppCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "app.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An application was deleted. */
        post: operations["onAppDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "app.replaced": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The configuration of an application was replaced. */
        post: operations["onAppReplaced"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "app_key.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An application key was created. */
        post: operations["onAppKeyCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "app_key.revealed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An application key was handed to a terminal. */
        post: operations["onAppKeyRevealed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "app_key.revoked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An application key was revoked. */
        post: operations["onAppKeyRevoked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "budget.exhausted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Spending, including estimates, reached a budget. */
        post: operations["onBudgetExhausted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "budget.threshold_reached": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Spending reached a threshold of a budget. */
        post: operations["onBudgetThresholdReached"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "cli_operation.denied": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A person denied the request of a terminal. */
        post: operations["onCliOperationDenied"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "connection.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An OAuth client was connected. */
        post: operations["onConnectionCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "connection.denied": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A person denied a connection to an OAuth client. */
        post: operations["onConnectionDenied"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "connection.revoked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A connection of an OAuth client was ended. */
        post: operations["onConnectionRevoked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "device.revoked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The gateway deleted a device key. */
        post: operations["onDeviceRevoked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "invitation.accepted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An invitation was accepted. */
        post: operations["onInvitationAccepted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "invitation.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A person was invited. */
        post: operations["onInvitationCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "invitation.revoked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An invitation was revoked. */
        post: operations["onInvitationRevoked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "limit.exhausted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A user, group or application was refused by a limit of requests or tokens for the first time in its window. */
        post: operations["onLimitExhausted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "management_key.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A management key was created. */
        post: operations["onManagementKeyCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "management_key.revoked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A management key was revoked. */
        post: operations["onManagementKeyRevoked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "mail.changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A member changed which events are mailed to them. */
        post: operations["onMailChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "member.joined": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A person became a member. */
        post: operations["onMemberJoined"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "member.removed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A member left or was removed. */
        post: operations["onMemberRemoved"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "member.role_changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The role of a member was changed. */
        post: operations["onMemberRoleChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "organization.claimed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A person claimed the account. */
        post: operations["onOrganizationClaimed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "organization.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An organization was created. */
        post: operations["onOrganizationCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "organization.renamed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The organization was renamed. */
        post: operations["onOrganizationRenamed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "passkey.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A member added a passkey. */
        post: operations["onPasskeyCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "passkey.removed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A member removed a passkey. */
        post: operations["onPasskeyRemoved"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "password.changed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A member changed their password. */
        post: operations["onPasswordChanged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "password.reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A member set a new password by a reset link. */
        post: operations["onPasswordReset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "password_reset.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A reset link was created for a member. */
        post: operations["onPasswordResetCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "play_credentials.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The Play Integrity credentials of an application were deleted. */
        post: operations["onPlayCredentialsDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "play_credentials.replaced": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The Play Integrity credentials of an application were set. */
        post: operations["onPlayCredentialsReplaced"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "provider.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A provider was added. */
        post: operations["onProviderCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "provider.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A provider was deleted. */
        post: operations["onProviderDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "provider.failing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A provider refused its key, or at least half of 20 or more calls in 60 seconds failed. */
        post: operations["onProviderFailing"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "provider.recovered": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A failing provider answered 20 calls in a row, or failed fewer than a tenth of its calls in 60 seconds. */
        post: operations["onProviderRecovered"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "provider.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A provider was changed. */
        post: operations["onProviderUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "provider_gateway.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A provider gateway was added. */
        post: operations["onProviderGatewayCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "provider_gateway.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A provider gateway was deleted. */
        post: operations["onProviderGatewayDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "provider_gateway.renamed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A provider gateway was renamed. */
        post: operations["onProviderGatewayRenamed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "provider_gateway.rotated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The token of a provider gateway was replaced. */
        post: operations["onProviderGatewayRotated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "recovery_code.used": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A member used a recovery code. */
        post: operations["onRecoveryCodeUsed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "recovery_codes.replaced": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A member replaced their recovery codes. */
        post: operations["onRecoveryCodesReplaced"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "session.ended": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sessions of a member were ended. */
        post: operations["onSessionEnded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "session.opened": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A member signed in. */
        post: operations["onSessionOpened"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "sign_in.refusals_rising": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** In this hour an application refused more sign-ins than usual. */
        post: operations["onSignInRefusalsRising"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "usage.estimates_settled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Estimated costs were settled. */
        post: operations["onUsageEstimatesSettled"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "usage.repriced": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Calls were repriced. */
        post: operations["onUsageRepriced"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "usage.unresolved_rising": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** In this hour more calls of an application than usual ended without a known cost. */
        post: operations["onUsageUnresolvedRising"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "user.blocked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A user of an application was blocked. */
        post: operations["onUserBlocked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "user.unblocked": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A user of an application was unblocked. */
        post: operations["onUserUnblocked"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A webhook was created. */
        post: operations["onWebhookCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A webhook was deleted. */
        post: operations["onWebhookDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.rotated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The secret of a webhook was replaced. */
        post: operations["onWebhookRotated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A webhook was changed. */
        post: operations["onWebhookUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A person or key requested a test of the webhook. */
        post: operations["onWebhookTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        AuditActorResponse: {
            /** @enum {string} */
            type: "user";
            id: string;
            /** @enum {string} */
            kind: "human" | "service";
            /** @description The session or key; null before the first one. */
            credential_id: string | null;
            /**
             * @description As the client identified itself.
             * @enum {string}
             */
            action_source: "web" | "api" | "cli" | "mcp" | "system";
            /** @description The current name. */
            name: string | null;
        };
        AuditTargetResponse: {
            /** @example app */
            type: string;
            /** @description Its id; it may be deleted. */
            id: string;
        };
        AuditedChangeResponse: {
            /** @example limits.per_user.requests.per_day */
            path: string;
            /** @description The old value; null: absent, or not recorded. */
            from: (string | number | boolean | ((string | number | boolean) | null)[]) | null;
            /** @description The new value; null: absent, or not recorded. */
            to: (string | number | boolean | ((string | number | boolean) | null)[]) | null;
            /** @description True when the values are not recorded because they can hold secrets or prompts. */
            redacted: boolean;
        };
        AuditEventResponse: {
            /** @description Increases with time; the cursor of the list. */
            id: number;
            /**
             * @description What was changed, and how.
             * @example app.created
             */
            action: string;
            actor: components["schemas"]["AuditActorResponse"];
            /** @enum {string} */
            credential_type: "session" | "apiKey" | "oauth";
            target: components["schemas"]["AuditTargetResponse"];
            /** @description The application it belongs to. */
            app_id: string | null;
            /** @description Details by action; never a secret. */
            details: {
                [key: string]: string | number | boolean | null;
            } | null;
            /** @description Old and new values of changed configuration, at most 200; those with values first. */
            changes: components["schemas"]["AuditedChangeResponse"][];
            /** Format: date-time */
            created_at: string;
        };
        AuditEventsResponse: {
            limit: number;
            /** @description Null: there are no older events. */
            next_before_id: number | null;
            /** @description Newest first. */
            events: components["schemas"]["AuditEventResponse"][];
        };
        AuditedPersonResponse: {
            id: string;
            /** @enum {string} */
            kind: "human" | "service";
            /** @description The current name. */
            name: string | null;
        };
        AuditFacetsResponse: {
            /** @description In alphabetical order. */
            actions: string[];
            /** @description By name. */
            actors: components["schemas"]["AuditedPersonResponse"][];
        };
        ManagementKeyResource: {
            /** @example mkey_0a1b2c3d4e5f6g7h8i9j */
            id: string;
            organizationId: string;
            /** @description The owner; the key has their current role. */
            userId: string;
            name: string;
            /**
             * @description The last four characters of the key.
             * @example 7hQ2
             */
            tokenHint: string;
            /** @description False once revoked or expired, or when its owner left the account. */
            enabled: boolean;
            /**
             * Format: date-time
             * @description Null: it does not expire.
             */
            expiresAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            revokedAt: string | null;
            /**
             * @description How it was issued.
             * @enum {string}
             */
            source: "console" | "cli" | "bootstrap" | "oauth";
            /** @enum {string} */
            credentialType: "apiKey" | "oauth";
            /** @description Where it is used, according to its client. */
            label: string | null;
            /** @enum {string} */
            grant: "read" | "manage";
            /** @description The client of a connection; null for a key. */
            clientId: string | null;
            /**
             * Format: date-time
             * @description When it was last used, up to ten minutes late; null until the first use. For a connection: when it last got tokens.
             */
            lastUsedAt: string | null;
        };
        ManagementKeyListResponse: {
            /** @description Newest first, including revoked and expired ones. */
            keys: components["schemas"]["ManagementKeyResource"][];
        };
        CreateManagementKeyRequest: {
            /** @description A display name; surrounding blanks are removed. */
            name: string;
            /**
             * @description The most the key may do, regardless of its owner’s role; `manage` when absent.
             * @enum {string}
             */
            grant?: "read" | "manage";
        };
        CreatedManagementKeyResource: {
            /** @example mkey_0a1b2c3d4e5f6g7h8i9j */
            id: string;
            organizationId: string;
            /** @description The owner; the key has their current role. */
            userId: string;
            name: string;
            /**
             * @description The last four characters of the key.
             * @example 7hQ2
             */
            tokenHint: string;
            /** @description False once revoked or expired, or when its owner left the account. */
            enabled: boolean;
            /**
             * Format: date-time
             * @description Null: it does not expire.
             */
            expiresAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            revokedAt: string | null;
            /**
             * @description How it was issued.
             * @enum {string}
             */
            source: "console" | "cli" | "bootstrap" | "oauth";
            /** @enum {string} */
            credentialType: "apiKey" | "oauth";
            /** @description Where it is used, according to its client. */
            label: string | null;
            /** @enum {string} */
            grant: "read" | "manage";
            /** @description The client of a connection; null for a key. */
            clientId: string | null;
            /**
             * Format: date-time
             * @description When it was last used, up to ten minutes late; null until the first use. For a connection: when it last got tokens.
             */
            lastUsedAt: string | null;
            /**
             * @description The key itself: shown only once and stored as a hash.
             * @example gw_mgmt_…
             */
            plaintext: string;
        };
        CreatedManagementKeyResponse: {
            key: components["schemas"]["CreatedManagementKeyResource"];
        };
        ManagementKeyResponse: {
            key: components["schemas"]["ManagementKeyResource"];
        };
        RevokedCredentialResponse: {
            /** @enum {boolean} */
            revoked: true;
        };
        ModelRatesResponse: {
            /** @description Input, per 1 000 000 tokens. */
            input?: number;
            /** @description Output, per 1 000 000 tokens. */
            output?: number;
            /** @description Input read from the provider’s cache, per 1 000 000 tokens. */
            cached_input?: number;
            /** @description Input written to the provider’s cache, per 1 000 000 tokens. */
            cache_write?: number;
            /** @description Audio input, per 1 000 000 tokens. */
            audio_input?: number;
            /** @description Audio output, per 1 000 000 tokens. */
            audio_output?: number;
            /** @description Audio input read from the provider’s cache, per 1 000 000 tokens. */
            cached_audio_input?: number;
            /** @description Image input, per 1 000 000 tokens. */
            image_input?: number;
            /** @description Image output, per 1 000 000 tokens. */
            image_output?: number;
            /** @description Video input, per 1 000 000 tokens. */
            video_input?: number;
            /** @description Image input read from the provider’s cache, per 1 000 000 tokens. */
            cached_image_input?: number;
            /** @description Input written to a cache that keeps it for an hour, per 1 000 000 tokens. */
            cache_write_1h?: number;
            /** @description Output that the answer counts as text, per 1 000 000 tokens, of a model with more expensive kinds of output; `output` is the rate of output without a kind. */
            text_output?: number;
            /** @description Video output, per 1 000 000 tokens. */
            video_output?: number;
            /** @description Reasoning that is counted in addition to the output, per 1 000 000 tokens. */
            reasoning_output?: number;
            /** @description Citations, which are counted in addition to the output, per 1 000 000 tokens. */
            citation_output?: number;
            /** @description Web searches that the provider made, per 1 000. */
            per_1k_web_searches?: number;
            /** @description Searches in files that the provider made, per 1 000. */
            per_1k_file_searches?: number;
            /** @description Every request, its search included, per 1 000. */
            per_1k_requests?: number;
            /** @description The same where the answer says that its search brought in little context. */
            per_1k_requests_low_context?: number;
            /** @description The same where the answer says that its search brought in a medium amount of context. */
            per_1k_requests_medium_context?: number;
            /** @description Per minute of audio. */
            per_minute?: number;
            /** @description Per hour of audio. */
            per_hour?: number;
            /** @description Each image that the request asks for. */
            per_image?: number;
            /** @description Each request, whatever it uses. */
            per_request?: number;
            /** @description Characters of the text of the request, per 1 000. */
            per_1k_characters?: number;
            /** @description Prompt tokens; a request above it is billed entirely at the `long_*` rates. */
            long_context_threshold?: number;
            /** @description Input of a long prompt, per 1 000 000 tokens. */
            long_input?: number;
            /** @description Output after a long prompt, per 1 000 000 tokens. */
            long_output?: number;
            /** @description Cached input of a long prompt, per 1 000 000 tokens. */
            long_cached_input?: number;
            /** @description Cache writes of a long prompt, per 1 000 000 tokens. */
            long_cache_write?: number;
            /** @description Hour-long cache writes of a long prompt, per 1 000 000 tokens. */
            long_cache_write_1h?: number;
        };
        PriceTiersResponse: {
            /** @description Rates of the tier `flex`. */
            flex?: components["schemas"]["ModelRatesResponse"];
            /** @description Rates of the tier `priority`. */
            priority?: components["schemas"]["ModelRatesResponse"];
            /** @description Rates of the tier `batch`. */
            batch?: components["schemas"]["ModelRatesResponse"];
        };
        ModelPriceResponse: {
            /** @description Input, per 1 000 000 tokens. */
            input?: number;
            /** @description Output, per 1 000 000 tokens. */
            output?: number;
            /** @description Input read from the provider’s cache, per 1 000 000 tokens. */
            cached_input?: number;
            /** @description Input written to the provider’s cache, per 1 000 000 tokens. */
            cache_write?: number;
            /** @description Audio input, per 1 000 000 tokens. */
            audio_input?: number;
            /** @description Audio output, per 1 000 000 tokens. */
            audio_output?: number;
            /** @description Audio input read from the provider’s cache, per 1 000 000 tokens. */
            cached_audio_input?: number;
            /** @description Image input, per 1 000 000 tokens. */
            image_input?: number;
            /** @description Image output, per 1 000 000 tokens. */
            image_output?: number;
            /** @description Video input, per 1 000 000 tokens. */
            video_input?: number;
            /** @description Image input read from the provider’s cache, per 1 000 000 tokens. */
            cached_image_input?: number;
            /** @description Input written to a cache that keeps it for an hour, per 1 000 000 tokens. */
            cache_write_1h?: number;
            /** @description Output that the answer counts as text, per 1 000 000 tokens, of a model with more expensive kinds of output; `output` is the rate of output without a kind. */
            text_output?: number;
            /** @description Video output, per 1 000 000 tokens. */
            video_output?: number;
            /** @description Reasoning that is counted in addition to the output, per 1 000 000 tokens. */
            reasoning_output?: number;
            /** @description Citations, which are counted in addition to the output, per 1 000 000 tokens. */
            citation_output?: number;
            /** @description Web searches that the provider made, per 1 000. */
            per_1k_web_searches?: number;
            /** @description Searches in files that the provider made, per 1 000. */
            per_1k_file_searches?: number;
            /** @description Every request, its search included, per 1 000. */
            per_1k_requests?: number;
            /** @description The same where the answer says that its search brought in little context. */
            per_1k_requests_low_context?: number;
            /** @description The same where the answer says that its search brought in a medium amount of context. */
            per_1k_requests_medium_context?: number;
            /** @description Per minute of audio. */
            per_minute?: number;
            /** @description Per hour of audio. */
            per_hour?: number;
            /** @description Each image that the request asks for. */
            per_image?: number;
            /** @description Each request, whatever it uses. */
            per_request?: number;
            /** @description Characters of the text of the request, per 1 000. */
            per_1k_characters?: number;
            /** @description Prompt tokens; a request above it is billed entirely at the `long_*` rates. */
            long_context_threshold?: number;
            /** @description Input of a long prompt, per 1 000 000 tokens. */
            long_input?: number;
            /** @description Output after a long prompt, per 1 000 000 tokens. */
            long_output?: number;
            /** @description Cached input of a long prompt, per 1 000 000 tokens. */
            long_cached_input?: number;
            /** @description Cache writes of a long prompt, per 1 000 000 tokens. */
            long_cache_write?: number;
            /** @description Hour-long cache writes of a long prompt, per 1 000 000 tokens. */
            long_cache_write_1h?: number;
            /** @description Rates of service tiers; a rate that a tier does not have is that of the model. */
            tiers?: components["schemas"]["PriceTiersResponse"];
            /** @description The author of a model that another company hosts. */
            author?: string;
            /** @description Whether its provider no longer recommends the model. For information only. */
            deprecated?: boolean;
            /**
             * Format: date
             * @description Announced end of the model. For information only.
             */
            retirement_date?: string;
        };
        PriceListResponse: {
            /** @description Provider type, then model. A type without a section has no catalog prices. */
            prices: {
                [key: string]: {
                    [key: string]: components["schemas"]["ModelPriceResponse"];
                };
            };
        };
        OrganizationResource: {
            id: string;
            name: string;
            /** Format: date-time */
            createdAt: string;
            /** @description Whether a person owns it. */
            claimed: boolean;
            /**
             * Format: date-time
             * @description Null without an expiry.
             */
            expiresAt: string | null;
        };
        SessionUser: {
            id: string;
            name: string | null;
            /** @description Null for service identities. */
            email: string | null;
            /** @enum {string} */
            kind: "human" | "service";
            emailVerified: boolean;
            image: string | null;
            /** Format: date-time */
            createdAt: string;
        };
        MembershipResource: {
            organization: components["schemas"]["OrganizationResource"];
            /** @enum {string} */
            role: "owner" | "admin" | "member";
            /** @enum {string} */
            status: "active";
            /** Format: date-time */
            joinedAt: string;
        };
        SessionActor: {
            /** @enum {string} */
            type: "user";
            id: string;
            /** @enum {string} */
            kind: "human" | "service";
            /** @description Id of the session or key. */
            credentialId: string | null;
            /**
             * @description A label, not a permission.
             * @enum {string}
             */
            actionSource: "web" | "api" | "cli" | "mcp" | "system";
        };
        AdminSessionResource: {
            user: components["schemas"]["SessionUser"];
            /** @description Your current one; null for a person without one. */
            organization: components["schemas"]["OrganizationResource"] | null;
            /**
             * @description Your role in it; null without one.
             * @enum {string|null}
             */
            role: "owner" | "admin" | "member" | null;
            /** @description A person’s organizations, or the one of the key; oldest first. */
            memberships: components["schemas"]["MembershipResource"][];
            /** @enum {string} */
            credentialType: "session" | "apiKey" | "oauth";
            /**
             * @description `interactive` is a signed-in person.
             * @enum {string}
             */
            assurance: "interactive" | "credential";
            actor: components["schemas"]["SessionActor"];
        };
        AdminSessionResponse: {
            session: components["schemas"]["AdminSessionResource"];
        };
        OrganizationListResponse: {
            /** @description The oldest organization first. */
            organizations: components["schemas"]["MembershipResource"][];
        };
        SelectOrganizationRequest: {
            /** @description One of yours. */
            organizationId: string;
        } & {
            [key: string]: unknown;
        };
        ClaimOrganizationRequest: {
            /** @description The value of `BOOTSTRAP_MANAGEMENT_KEY`. */
            bootstrapKey: string;
        };
        OrganizationNameRequest: {
            /** @description A display name; surrounding blanks are removed. */
            name: string;
        };
        OrganizationResponse: {
            organization: components["schemas"]["OrganizationResource"];
        };
        Member: {
            /** @description Id of the person or service identity. */
            id: string;
            name: string | null;
            /** @description Null for service identities. */
            email: string | null;
            /** @enum {string} */
            kind: "human" | "service";
            /** @enum {string} */
            role: "owner" | "admin" | "member";
            /** Format: date-time */
            joinedAt: string;
        };
        MemberListResponse: {
            /** @description Oldest members first. */
            members: components["schemas"]["Member"][];
        };
        MemberRoleRequest: {
            /**
             * @description `member` only reads.
             * @enum {string}
             */
            role: "owner" | "admin" | "member";
        };
        MemberResponse: {
            member: components["schemas"]["Member"];
        };
        RemovedMemberResponse: {
            /** @enum {boolean} */
            removed: true;
        };
        CreateInvitationRequest: {
            /**
             * @description The role of the person; not above your own.
             * @enum {string}
             */
            role: "owner" | "admin" | "member";
            /** @description The only address that may accept; absent: anybody with the link. */
            email?: string;
        };
        Invitation: {
            /** @example inv_0a1b2c3d4e5f6g7h8i9j */
            id: string;
            /** @enum {string} */
            role: "owner" | "admin" | "member";
            /** @description The only address that may accept, if one was named. */
            email: string | null;
            /** @enum {string} */
            status: "pending" | "accepted" | "revoked" | "expired";
            /** @description Id of the member who created it. */
            invitedBy: string;
            /** @description Id of the person who accepted it. */
            acceptedBy: string | null;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description Seven days after its creation.
             */
            expiresAt: string;
            /** Format: date-time */
            acceptedAt: string | null;
            /** Format: date-time */
            revokedAt: string | null;
        };
        WrittenInvitationResponse: {
            invitation: components["schemas"]["Invitation"];
            /**
             * Format: uri
             * @description The link to pass on: shown only once.
             */
            url: string;
            /** @description Whether the link is mailed to the address too. */
            mailed: boolean;
        };
        InvitationListResponse: {
            /** @description Newest first; ended ones are kept for 90 days. */
            invitations: components["schemas"]["Invitation"][];
        };
        InvitationResponse: {
            invitation: components["schemas"]["Invitation"];
        };
        InvitationTokenRequest: {
            /** @description What follows `#` in the link. */
            token: string;
        };
        InvitationDetailsResponse: {
            organizationName: string;
            /** @enum {string} */
            role: "owner" | "admin" | "member";
            /** @description The only address that may accept, if one was named. */
            email: string | null;
            /** Format: date-time */
            expiresAt: string;
        };
        JoinedOrganizationResponse: {
            organizationId: string;
            /**
             * @description Your role; a member keeps the higher of two.
             * @enum {string}
             */
            role: "owner" | "admin" | "member";
        };
        SessionResource: {
            id: string;
            /** @description Names the session. Useless without the signature, which only the cookie has. */
            token: string;
            userId: string;
            /**
             * Format: date-time
             * @description A week after the last renewal; once a day it is renewed.
             */
            expiresAt: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was renewed last.
             */
            updatedAt: string;
            /** @description The address of the sign-in; of IPv6, its /64 network. */
            ipAddress: string | null;
            userAgent: string | null;
        };
        UserResource: {
            id: string;
            name: string | null;
            email: string;
            emailVerified: boolean;
            image: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        SessionResponse: {
            session: components["schemas"]["SessionResource"];
            user: components["schemas"]["UserResource"];
        };
        SignUpRequest: {
            name: string;
            /** @description Compared case-insensitively; not verified by mail. */
            email: string;
            /** @description 8 to 128 characters of any kind. */
            password: string;
            /** @description The text after `#` in the link of an invitation; the person joins its organization. */
            invitationToken?: string;
            /** @description The value of `BOOTSTRAP_MANAGEMENT_KEY`: the person owns the account that it opened, and gets no other. Not with `invitationToken`. */
            bootstrapKey?: string;
        };
        SessionBegunResponse: {
            /** @description Names the session. Useless without the signature, which only the cookie has. */
            token: string;
            user: components["schemas"]["UserResource"];
        };
        SignInRequest: {
            /** @description As registered; case-insensitive. */
            email: string;
            password: string;
        };
        SignInResponse: {
            /** @enum {boolean} */
            redirect: false;
            /** @description Names the session. Useless without the signature, which only the cookie has. */
            token: string;
            user: components["schemas"]["UserResource"];
        };
        SignOutResponse: {
            /** @enum {boolean} */
            success: true;
        };
        ChangePasswordRequest: {
            currentPassword: string;
            newPassword: string;
        };
        UpdateUserRequest: {
            name?: string;
            /** @description Address of a picture; null removes it. */
            image?: string | null;
        };
        UpdateUserResponse: {
            /** @enum {boolean} */
            status: true;
            user: components["schemas"]["UserResource"];
        };
        OwnSessionResource: {
            id: string;
            /** @description Whether this request was sent with it. */
            current: boolean;
            /** @description Of the browser that signed in. */
            ipAddress: string | null;
            /** @description Of the browser that signed in. */
            userAgent: string | null;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was last renewed: at most once a day.
             */
            updatedAt: string;
            /** Format: date-time */
            expiresAt: string;
        };
        OwnSessionsResponse: {
            sessions: components["schemas"]["OwnSessionResource"][];
        };
        RevokeSessionRequest: {
            /** @description The id of one of your sessions, from the list. */
            id: string;
        };
        RevokedSessionsResponse: {
            /** @description Number of sessions that this request ended; 0 when another one ended them all at the same time. */
            revoked: number;
        };
        PasskeyResource: {
            /** @example passkey_0a1b2c3d4e5f6g7h8i9j */
            id: string;
            name: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description The last sign-in with it.
             */
            lastUsedAt: string | null;
        };
        PasskeyListResponse: {
            /** @description Oldest first. */
            passkeys: components["schemas"]["PasskeyResource"][];
        };
        PasskeyOptionsResponse: {
            /** @description For `navigator.credentials`, in the JSON form of WebAuthn Level 3. Valid once, for five minutes. */
            options: {
                [key: string]: unknown;
            };
        };
        RegisterPasskeyRequest: {
            /** @description For the person, such as the name of the device. */
            name: string;
            /** @description `id` of the credential. */
            id: string;
            clientDataJSON: string;
            attestationObject: string;
        };
        PasskeyResponse: {
            passkey: components["schemas"]["PasskeyResource"];
        };
        RemovedPasskeyResponse: {
            /** @enum {boolean} */
            removed: true;
        };
        PasskeySignInRequest: {
            /** @description `id` of the credential. */
            id: string;
            clientDataJSON: string;
            authenticatorData: string;
            signature: string;
            userHandle: string;
        };
        IssuedPasswordResetResponse: {
            /**
             * Format: uri
             * @description For the person alone: shown only once.
             */
            url: string;
            /** Format: date-time */
            expiresAt: string;
        };
        RecoveryCodeCountResponse: {
            /** @description Codes that are not used. */
            unused: number;
        };
        RecoveryCodesResponse: {
            /** @description Shown only once and stored as hashes. */
            codes: string[];
        };
        RecoverRequest: {
            /** @description As registered; case-insensitive. */
            email: string;
            /** @description A recovery code, in any case, with or without hyphens. */
            code: string;
            /** @description 8 to 128 characters of any kind. */
            newPassword: string;
        };
        ResetPasswordRequest: {
            /** @description The text after `#` in the link. */
            token: string;
            /** @description 8 to 128 characters of any kind. */
            newPassword: string;
        };
        PasswordResetResponse: {
            /** @enum {boolean} */
            reset: true;
        };
        SocialSignInRequest: {
            /** @enum {string} */
            provider: "google";
            /** @description Where the browser goes when the person is signed in: a path of the console; `/` by default. */
            callbackURL?: string;
            /** @description Where it goes otherwise, with `error` in its query; `/login` by default. */
            errorCallbackURL?: string;
            /** @description Returned in the answer, inverted as `redirect`. */
            disableRedirect?: boolean;
            /** @description The text after `#` in the link of an invitation; the person joins its organization. */
            invitationToken?: string;
        };
        SocialSignInResponse: {
            /** Format: uri */
            url: string;
            /** @description False when `disableRedirect` was sent. */
            redirect: boolean;
        };
        CapabilitiesResponse: {
            /** @description Whether accounts have plans. */
            billing: boolean;
            /** @description Whether anybody may register without an invitation. */
            registrationOpen: boolean;
            /** @description Whether nobody has registered yet; the console then starts with the registration. */
            awaitsFirstPerson: boolean;
            /** @description Whether people can sign in with Google. */
            googleAuth: boolean;
            /** @description Whether browsers have passkeys at the address of the request. */
            passkeys: boolean;
            /** @description Whether providers of the type `simulated` can be created. */
            simulatedProvider: boolean;
            /**
             * Format: uri
             * @description The address for AI clients, whose access people approve on a page. Absent without `PUBLIC_URL`, or with `OAUTH_ENABLED=false`.
             */
            mcpUrl?: string;
            /** Format: uri */
            termsOfServiceUrl?: string;
            /** Format: uri */
            privacyPolicyUrl?: string;
        };
        CustomPriceSchema: {
            /** @description US dollars per 1 000 000 input tokens. Required unless every rate is per minute, image, request or character. */
            input?: number;
            /** @description US dollars per 1 000 000 output tokens. Required unless every rate is per minute, image, request or character. */
            output?: number;
            /** @description US dollars per 1 000 000 input tokens read from the provider’s cache; `input` when absent. */
            cached_input?: number;
            /** @description US dollars per 1 000 000 input tokens written to the provider’s cache; `input` when absent. */
            cache_write?: number;
            /** @description US dollars per 1 000 000 audio input tokens; `input` when absent. */
            audio_input?: number;
            /** @description US dollars per 1 000 000 audio output tokens; `output` when absent. */
            audio_output?: number;
            /** @description US dollars per 1 000 000 cached audio input tokens; `cached_input` when absent. */
            cached_audio_input?: number;
            /** @description US dollars per minute of audio. */
            per_minute?: number;
            /** @description US dollars for each image that a request of an image path asks for. */
            per_image?: number;
            /** @description US dollars for every request, besides all other rates. */
            per_request?: number;
            /** @description US dollars per 1 000 characters of the `input` text of a request. */
            per_1k_characters?: number;
            /** @description US dollars per 1 000 web searches that the provider makes. */
            per_1k_web_searches?: number;
            /** @description Rates of service tiers, applied where the answer names the tier. A missing rate is that of the model. */
            tiers?: {
                flex?: components["schemas"]["CustomRatesSchema"];
                priority?: components["schemas"]["CustomRatesSchema"];
                batch?: components["schemas"]["CustomRatesSchema"];
            };
        };
        CustomRatesSchema: {
            /** @description US dollars per 1 000 000 input tokens. Required unless every rate is per minute, image, request or character. */
            input?: number;
            /** @description US dollars per 1 000 000 output tokens. Required unless every rate is per minute, image, request or character. */
            output?: number;
            /** @description US dollars per 1 000 000 input tokens read from the provider’s cache; `input` when absent. */
            cached_input?: number;
            /** @description US dollars per 1 000 000 input tokens written to the provider’s cache; `input` when absent. */
            cache_write?: number;
            /** @description US dollars per 1 000 000 audio input tokens; `input` when absent. */
            audio_input?: number;
            /** @description US dollars per 1 000 000 audio output tokens; `output` when absent. */
            audio_output?: number;
            /** @description US dollars per 1 000 000 cached audio input tokens; `cached_input` when absent. */
            cached_audio_input?: number;
            /** @description US dollars per minute of audio. */
            per_minute?: number;
            /** @description US dollars for each image that a request of an image path asks for. */
            per_image?: number;
            /** @description US dollars for every request, besides all other rates. */
            per_request?: number;
            /** @description US dollars per 1 000 characters of the `input` text of a request. */
            per_1k_characters?: number;
            /** @description US dollars per 1 000 web searches that the provider makes. */
            per_1k_web_searches?: number;
        };
        ProviderCapabilityResponse: {
            /** @description Styles it serves. */
            apiStyles: ("responses" | "chat_completions" | "anthropic_messages" | "gemini_native" | "gemini_interactions" | "audio_transcription" | "other")[];
            /** @description Styles of named endpoints it can serve. */
            endpointStyles: ("responses" | "transcription")[];
            /** @description The prefix that a gateway requires for model names. */
            modelPrefix: string | null;
            /**
             * @description Whether calls use the provider’s or the gateway’s paths.
             * @enum {string}
             */
            paths: "provider" | "gateway";
            /** @description Paths that an empty `allowed_paths` allows. */
            inferencePaths: string[];
        };
        ProviderTestRecord: {
            /** Format: date-time */
            at: string;
            /**
             * @description `refused`: 401 or 403. `unexpected_status`: any other non-success status.
             * @enum {string}
             */
            result: "accepted" | "refused" | "unreachable" | "unexpected_status";
        };
        ProviderResource: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            type: "openai" | "anthropic" | "xai" | "gemini" | "perplexity" | "deepseek" | "groq" | "mistral" | "together" | "fireworks" | "cerebras" | "moonshot" | "huggingface" | "baseten" | "bytedance" | "openrouter";
            /** @description Names the instance in paths and configurations. */
            slug: string;
            /** @description For people. */
            name: string;
            /** @description The end of the key: its last 4 characters, or 2 below 16 characters. The key itself is never returned. Null when a gateway owns the credential. */
            secretHint: string | null;
            /** @description The upstream gateway that calls go through. */
            providerGatewayId: string | null;
            /** @description Options of the route through that gateway. */
            gatewayRoute: {
                /** @description Precedes model names instead of the type’s namespace. Ends with a slash. */
                modelPrefix?: string;
                /** @description The only providers that may serve the calls. */
                providerOnly?: string[];
            } | null;
            /** @description The address used instead of the type’s own. */
            baseUrl: string | null;
            /** @description Prices by model that replace the catalog’s. */
            pricing: {
                [key: string]: components["schemas"]["CustomPriceSchema"];
            } | null;
            /**
             * @description How calls reach the provider. Null: unknown to this version.
             * @enum {string|null}
             */
            route: "direct" | "cf_aig" | "vercel" | null;
            /** @description What the type serves on this route. */
            capability: components["schemas"]["ProviderCapabilityResponse"];
            /** @description The last test of the stored credential; null while the present one is untested. */
            lastTest: components["schemas"]["ProviderTestRecord"] | null;
            /** @description What to know of these settings, such as a `baseUrl` that repeats a part of each path; absent without any. */
            warnings?: string[];
            /** @description Increases by one with each update. */
            revision: number;
            /** @enum {string} */
            status: "active" | "disabled";
            /** Format: date-time */
            createdAt: string;
            /** @description Identity of the creator. */
            createdBy: string;
        };
        ProviderListResponse: {
            /** @description Oldest first. */
            providers: components["schemas"]["ProviderResource"][];
        };
        CreateProviderRequest: {
            /**
             * @description Decides address, authentication, paths and prices. Cannot change later.
             * @enum {string}
             */
            type: "openai" | "anthropic" | "xai" | "gemini" | "perplexity" | "deepseek" | "groq" | "mistral" | "together" | "fireworks" | "cerebras" | "moonshot" | "huggingface" | "baseten" | "bytedance" | "openrouter";
            /** @description For people. */
            name: string;
            /** @description Names the instance in paths and configurations, once per account; the type when absent. */
            slug?: string;
            /** @description The provider’s key. Stored sealed, never returned. Exactly one of this and `providerGatewayId`. */
            secret?: string;
            /** @description The upstream gateway that calls go through. */
            providerGatewayId?: string;
            /** @description Options of the route through a gateway of type `vercel`. */
            gatewayRoute?: {
                /** @description Precedes model names instead of the type’s namespace. Ends with a slash. */
                modelPrefix?: string;
                /** @description The only providers that may serve the calls. */
                providerOnly?: string[];
            };
            /** @description An https origin and path instead of the type’s own. Not with `providerGatewayId`. */
            baseUrl?: string;
            /** @description Prices by model that replace the catalog’s, for this instance only. */
            pricing?: {
                [key: string]: components["schemas"]["CustomPriceSchema"];
            };
        };
        ProviderResponse: {
            provider: components["schemas"]["ProviderResource"];
        };
        TestProviderRequest: {
            /**
             * @description The type whose cheap authenticated call is made.
             * @enum {string}
             */
            type: "openai" | "anthropic" | "xai" | "gemini" | "perplexity" | "deepseek" | "groq" | "mistral" | "together" | "fireworks" | "cerebras" | "moonshot" | "huggingface" | "baseten" | "bytedance" | "openrouter";
            /** @description The key to test. Not stored. Exactly one of this and `providerGatewayId`. */
            secret?: string;
            /** @description The upstream gateway to test through. */
            providerGatewayId?: string;
            /** @description The address the instance would use instead of the type’s own. */
            baseUrl?: string;
        };
        ProviderTestResponse: {
            /** @description True when the provider accepted the key. */
            validated: boolean;
            /**
             * @description Why the key could not be validated; absent when validated.
             * @enum {string}
             */
            reason?: "unreachable" | "unexpected_status" | "no_probe";
            /** @description The provider’s status, with `unexpected_status`. */
            status?: number;
            /** @description What may be the cause of an `unexpected_status`; absent if nothing is known. */
            warnings?: string[];
        };
        UpdateProviderRequest: {
            /** @description For people. */
            name?: string;
            /** @description A new key; it replaces the old one. Not on an instance behind a gateway. */
            secret?: string;
            /** @description Replaces the options of the route through a gateway of type `vercel`; null removes them. */
            gatewayRoute?: {
                /** @description Precedes model names instead of the type’s namespace. Ends with a slash. */
                modelPrefix?: string;
                /** @description The only providers that may serve the calls. */
                providerOnly?: string[];
            } | null;
            /** @description A new address, together with the key to send there; null returns to the type’s own. Not on an instance behind a gateway. */
            baseUrl?: string | null;
            /** @description Replaces all custom prices; null removes them. */
            pricing?: {
                [key: string]: components["schemas"]["CustomPriceSchema"];
            } | null;
            /**
             * @description `disabled` pauses: calls answer `provider_disabled`; key, prices and slug stay.
             * @enum {string}
             */
            status?: "active" | "disabled";
            /** @description The revision you read. When sent, it must be the stored one. */
            revision?: number;
        };
        DeletedProviderResponse: {
            /** @enum {boolean} */
            deleted: true;
            provider_id: string;
        };
        CfAigPlaceResponse: {
            /** @description The gateway’s account at Cloudflare. */
            accountId: string;
            /** @description The gateway within that account. */
            gatewayId: string;
        };
        CfAigProviderGateway: {
            /** Format: uuid */
            id: string;
            /** @description For people. */
            name: string;
            /** @description The end of the token: its last 4 characters, or 2 below 16 characters. The token itself is never returned. */
            secretHint: string;
            /** @description Active providers that are routed through it. */
            providerCount: number;
            /** @description All providers that name it, disabled ones included: it can be deleted when there are none. */
            referencedCount: number;
            /** @description Increases by one with each change. */
            revision: number;
            /** @enum {string} */
            status: "active" | "revoked";
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Identity of the creator. */
            createdBy: string;
            /**
             * @description Cloudflare AI Gateway. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "cf_aig";
            config: components["schemas"]["CfAigPlaceResponse"];
        };
        VercelProviderGateway: {
            /** Format: uuid */
            id: string;
            /** @description For people. */
            name: string;
            /** @description The end of the token: its last 4 characters, or 2 below 16 characters. The token itself is never returned. */
            secretHint: string;
            /** @description Active providers that are routed through it. */
            providerCount: number;
            /** @description All providers that name it, disabled ones included: it can be deleted when there are none. */
            referencedCount: number;
            /** @description Increases by one with each change. */
            revision: number;
            /** @enum {string} */
            status: "active" | "revoked";
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Identity of the creator. */
            createdBy: string;
            /**
             * @description Vercel AI Gateway. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "vercel";
            /** @description Always empty. */
            config: Record<string, never>;
        };
        ProviderGatewayListResponse: {
            /** @description Oldest first. */
            gateways: (components["schemas"]["CfAigProviderGateway"] | components["schemas"]["VercelProviderGateway"])[];
        };
        CreateCfAigGatewayRequest: {
            /**
             * @description Cloudflare AI Gateway. Cannot change later. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "cf_aig";
            /** @description For people. */
            name: string;
            /** @description The gateway’s token. Stored sealed, never returned. */
            token: string;
            /** @description The gateway’s account at Cloudflare. */
            accountId: string;
            /** @description The gateway within that account. */
            gatewayId: string;
        };
        CreateVercelGatewayRequest: {
            /**
             * @description Vercel AI Gateway. Cannot change later. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "vercel";
            /** @description For people. */
            name: string;
            /** @description The gateway’s token. Stored sealed, never returned. */
            token: string;
        };
        ProviderGatewayResponse: {
            gateway: components["schemas"]["CfAigProviderGateway"] | components["schemas"]["VercelProviderGateway"];
        };
        TestCfAigGatewayRequest: {
            /**
             * @description Tested by requesting the model list of openai through the gateway. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "cf_aig";
            /** @description The token to test. Not stored. */
            token: string;
            /** @description The gateway’s account at Cloudflare. */
            accountId: string;
            /** @description The gateway within that account. */
            gatewayId: string;
        };
        TestVercelGatewayRequest: {
            /**
             * @description Tested by the balance of the token’s own account. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "vercel";
            /** @description The token to test. Not stored. */
            token: string;
        };
        ProviderGatewayTestResponse: {
            /** @description True when the gateway accepted the token. */
            validated: boolean;
            /**
             * @description `rejected` is the gateway’s 401 or 403; absent when validated.
             * @enum {string}
             */
            reason?: "unreachable" | "unexpected_status" | "rejected";
            /** @description The gateway’s status; absent when validated or unreachable. */
            status?: number;
        };
        RenameGatewayRequest: {
            /** @description For people. */
            name: string;
            /** @description The revision you read. When sent, it must be the stored one. */
            revision?: number;
        };
        RotateGatewayRequest: {
            /** @description A new token for the same gateway; it replaces the old one. */
            token: string;
            /** @description The revision you read. When sent, it must be the stored one. */
            revision?: number;
        };
        DeletedProviderGatewayResponse: {
            /** @enum {boolean} */
            deleted: true;
            provider_gateway_id: string;
        };
        AppKeyResponse: {
            /** @example key_0a1b2c3d4e5f6g7h8i9j */
            id: string;
            name: string;
            /**
             * @description The first 12 characters of the key.
             * @example gw_Ab3dE6gH9
             */
            key_prefix: string;
            /** @enum {string} */
            status: "active" | "revoked" | "expired";
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Renewed at most once an hour; null until the first use.
             */
            last_used_at: string | null;
            /**
             * Format: date-time
             * @description Null: it does not expire.
             */
            expires_at: string | null;
        };
        AppKeyListResponse: {
            app_id: string;
            /** @description Newest first, revoked ones included. */
            keys: components["schemas"]["AppKeyResponse"][];
        };
        CreateAppKeyRequest: {
            /** @description A display name; surrounding blanks are removed. */
            name: string;
            /**
             * Format: date-time
             * @description When the key expires; must be in the future. Absent or null: it does not expire.
             */
            expires_at?: string | null;
        } & {
            [key: string]: unknown;
        };
        IssuedAppKeyResponse: {
            /** @example key_0a1b2c3d4e5f6g7h8i9j */
            id: string;
            name: string;
            /** @description The key itself: shown only once and stored as a hash. */
            key: string;
            /**
             * @description The first 12 characters of the key.
             * @example gw_Ab3dE6gH9
             */
            key_prefix: string;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Null: it does not expire.
             */
            expires_at: string | null;
        };
        RevokedAppKeyResponse: {
            app_id: string;
            /** @description Id of the revoked key. */
            key: string;
        };
        MonthUsageResponse: {
            app_id: string;
            /**
             * @description UTC month.
             * @example 2026-11
             */
            month: string;
            /** @description Every recorded request, refused ones included. */
            requests: number;
            /** @description Prompt tokens neither read from nor written to a cache. */
            input_tokens: number;
            /** @description Prompt tokens read from a cache. */
            cached_input_tokens: number;
            /** @description Prompt tokens written to a cache. */
            cache_write_tokens: number;
            /** @description Generated tokens, reasoning included. */
            output_tokens: number;
            /** @description US dollars. */
            cost_usd: number;
            /** @description Estimate in US dollars in addition to `cost_usd` for calls of unknown usage; counts against budgets. */
            estimated_cost_usd: number;
        };
        UsageAttemptResponse: {
            /** @description The provider instance. */
            provider_slug: string;
            model: string;
            /** @description HTTP status of its answer; null without one. */
            status: number | null;
            /** @description Milliseconds to its first byte, or to its failure. */
            latency_ms: number;
            /** @description The error, if the status does not say it. */
            error: string | null;
        };
        RefusalResponse: {
            /** @description The error code that the client got. */
            code: string;
            /** @description The reason as in the log; null without one. */
            reason: string | null;
            /** @description What the client was told, at the first refusal of the row. */
            message: string;
            /**
             * Format: date-time
             * @description When the limit is free again; null where only a change of the request or the configuration helps.
             */
            until: string | null;
        };
        UsageEventResponse: {
            /** @description Increases with time; the cursor of the list. */
            id: number;
            app_id: string;
            user_id: string | null;
            /** @description The application key used, directly or through a token. */
            api_key_id: string | null;
            /** @description Type of the provider; `(none)`: refused before one was chosen. */
            provider: string;
            /** @description The provider instance. */
            provider_slug: string | null;
            /** @description Null: the provider was called directly. */
            provider_gateway_id: string | null;
            provider_gateway_type: string | null;
            /**
             * @description Whose key was used.
             * @enum {string|null}
             */
            credential_source: "direct" | "byok" | "gateway_system" | "unknown" | null;
            model_author: string | null;
            /** @description Who served it, if a provider routes requests to others. */
            served_provider: string | null;
            served_model: string | null;
            /** @description The canonical model, after rewrites; `(none)`: the request names no model, or it was refused. */
            model: string;
            /** @description Provider instance and path. */
            route: string;
            /** @description The named endpoint, if one was called. */
            endpoint_slug: string | null;
            input_tokens: number;
            cached_input_tokens: number;
            cache_write_tokens: number;
            output_tokens: number;
            /** @description US dollars; the known part of it when `cost_source` is unresolved. */
            cost_usd: number;
            /** @description Estimate in US dollars beside `cost_usd`, where the usage is unknown; counts against budgets. */
            estimated_cost_usd: number;
            /** @description US dollars, as reported by the provider. */
            reported_cost_usd: number | null;
            /** @enum {string|null} */
            cost_source: "computed" | "reported" | "unresolved" | null;
            app_version: string | null;
            /** @enum {string|null} */
            auth_method: "attest" | "api_key" | "key_attestation" | "play_integrity" | "unproven" | null;
            /** @enum {string} */
            status: "ok" | "provider_error" | "blocked_app_rate" | "blocked_app_budget" | "blocked_billing" | "blocked_user" | "blocked_policy" | "blocked_invalid";
            /** @description Requests of this row: 1, or all refusals of one caller for one reason within a minute. */
            requests: number;
            /**
             * @description 1: the client disconnected before the end. Null also if the service stopped before.
             * @enum {integer|null}
             */
            client_aborted: 1 | null;
            /** @description Milliseconds to the first byte of the answer. */
            latency_ms: number | null;
            /** @description Milliseconds to the last byte of the answer; null unless it was complete. */
            duration_ms: number | null;
            /** @description The targets of a named endpoint that were tried, in order. The event describes the one whose answer the client got, otherwise the last. Null if only one was tried. */
            attempts: components["schemas"]["UsageAttemptResponse"][] | null;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description When its estimate was settled by an administrator. Null: not settled.
             */
            settled_at: string | null;
            /** @description Why it was refused; null for calls, and for refusals recorded by earlier versions. */
            refusal: components["schemas"]["RefusalResponse"] | null;
        };
        UsageEventsResponse: {
            app_id: string;
            limit: number;
            /** @description Null: there are no older events. */
            next_before_id: number | null;
            /** @description Newest first. */
            events: components["schemas"]["UsageEventResponse"][];
        };
        UsageBucketResponse: {
            /** @description Every recorded request, refused ones included. */
            requests: number;
            /** @description Prompt tokens neither read from nor written to a cache. */
            input_tokens: number;
            /** @description Prompt tokens read from a cache. */
            cached_input_tokens: number;
            /** @description Prompt tokens written to a cache. */
            cache_write_tokens: number;
            /** @description Generated tokens, reasoning included. */
            output_tokens: number;
            /** @description US dollars. */
            cost_usd: number;
            /** @description Estimate in US dollars in addition to `cost_usd` for calls of unknown usage; counts against budgets. */
            estimated_cost_usd: number;
            /** @description Requests that failed at the provider. */
            errors: number;
            /** @description Refused requests: by a limit, a plan, a block or the configuration, or because they were not valid. */
            blocked: number;
            /**
             * Format: date
             * @description UTC day. Folded months are one bucket, under their first day.
             */
            date: string;
            /** @description Type of the provider. */
            provider: string;
        };
        UsageTimeseriesResponse: {
            app_id: string;
            /**
             * Format: date
             * @description First UTC day.
             */
            from: string;
            /**
             * Format: date
             * @description Last UTC day, inclusive.
             */
            to: string;
            /** @description By date, then by provider; days without usage are absent. */
            buckets: components["schemas"]["UsageBucketResponse"][];
        };
        UsageShareResponse: {
            /** @description Every recorded request, refused ones included. */
            requests: number;
            /** @description Prompt tokens neither read from nor written to a cache. */
            input_tokens: number;
            /** @description Prompt tokens read from a cache. */
            cached_input_tokens: number;
            /** @description Prompt tokens written to a cache. */
            cache_write_tokens: number;
            /** @description Generated tokens, reasoning included. */
            output_tokens: number;
            /** @description US dollars. */
            cost_usd: number;
            /** @description Estimate in US dollars in addition to `cost_usd` for calls of unknown usage; counts against budgets. */
            estimated_cost_usd: number;
            /** @description Requests that failed at the provider. */
            errors: number;
            /** @description Refused requests: by a limit, a plan, a block or the configuration, or because they were not valid. */
            blocked: number;
            /** @description Null: requests without one. */
            key: string | null;
        };
        UsageBreakdownResponse: {
            app_id: string;
            /**
             * @description As asked.
             * @example model
             */
            by: string;
            /**
             * Format: date
             * @description First UTC day.
             */
            from: string;
            /**
             * Format: date
             * @description Last UTC day, inclusive.
             */
            to: string;
            /**
             * Format: date
             * @description First UTC day of the rows: `from`, or a later day if this detail of earlier days is deleted. Later than `to` if all of it is deleted.
             */
            complete_from: string;
            /** @description Most requests first, then by key. */
            rows: components["schemas"]["UsageShareResponse"][];
        };
        LatencyResponse: {
            /** @description Successful calls with a known time. */
            calls: number;
            /** @description Milliseconds, median, within 5 %; null without calls. */
            p50_ms: number | null;
            /** @description The 95th percentile, likewise. */
            p95_ms: number | null;
        };
        UsagePeriodResponse: {
            /** @description Every recorded request, refused ones included. */
            requests: number;
            /** @description Prompt tokens neither read from nor written to a cache. */
            input_tokens: number;
            /** @description Prompt tokens read from a cache. */
            cached_input_tokens: number;
            /** @description Prompt tokens written to a cache. */
            cache_write_tokens: number;
            /** @description Generated tokens, reasoning included. */
            output_tokens: number;
            /** @description US dollars. */
            cost_usd: number;
            /** @description Estimate in US dollars in addition to `cost_usd` for calls of unknown usage; counts against budgets. */
            estimated_cost_usd: number;
            /** @description Requests that failed at the provider. */
            errors: number;
            /** @description Refused requests: by a limit, a plan, a block or the configuration, or because they were not valid. */
            blocked: number;
            /**
             * Format: date
             * @description First UTC day.
             */
            from: string;
            /**
             * Format: date
             * @description Last UTC day, inclusive.
             */
            to: string;
            /** @description Time to the first byte of the answer. */
            latency: components["schemas"]["LatencyResponse"];
            /** @description Time to the last byte of complete answers. */
            duration: components["schemas"]["LatencyResponse"];
        };
        AccountUsageResponse: {
            /** @description Every recorded request, refused ones included. */
            requests: number;
            /** @description Prompt tokens neither read from nor written to a cache. */
            input_tokens: number;
            /** @description Prompt tokens read from a cache. */
            cached_input_tokens: number;
            /** @description Prompt tokens written to a cache. */
            cache_write_tokens: number;
            /** @description Generated tokens, reasoning included. */
            output_tokens: number;
            /** @description US dollars. */
            cost_usd: number;
            /** @description Estimate in US dollars in addition to `cost_usd` for calls of unknown usage; counts against budgets. */
            estimated_cost_usd: number;
            /** @description Requests that failed at the provider. */
            errors: number;
            /** @description Refused requests: by a limit, a plan, a block or the configuration, or because they were not valid. */
            blocked: number;
            /**
             * Format: date
             * @description First UTC day.
             */
            from: string;
            /**
             * Format: date
             * @description Last UTC day, inclusive.
             */
            to: string;
            /** @description Time to the first byte of the answer. */
            latency: components["schemas"]["LatencyResponse"];
            /** @description Time to the last byte of complete answers. */
            duration: components["schemas"]["LatencyResponse"];
            /** @description The asked application; null: the account. */
            app_id: string | null;
            /**
             * Format: date
             * @description First UTC day of `latency` and `duration`: `from`, or a later day if latencies of earlier days are deleted.
             */
            latency_from: string;
            /** @description The period before. */
            previous: components["schemas"]["UsagePeriodResponse"];
        };
        SeriesBucketResponse: {
            /** @description Every recorded request, refused ones included. */
            requests: number;
            /** @description Prompt tokens neither read from nor written to a cache. */
            input_tokens: number;
            /** @description Prompt tokens read from a cache. */
            cached_input_tokens: number;
            /** @description Prompt tokens written to a cache. */
            cache_write_tokens: number;
            /** @description Generated tokens, reasoning included. */
            output_tokens: number;
            /** @description US dollars. */
            cost_usd: number;
            /** @description Estimate in US dollars in addition to `cost_usd` for calls of unknown usage; counts against budgets. */
            estimated_cost_usd: number;
            /** @description Requests that failed at the provider. */
            errors: number;
            /** @description Refused requests: by a limit, a plan, a block or the configuration, or because they were not valid. */
            blocked: number;
            /** @description UTC day, or the start of an hour. Folded months are one bucket, under their first day. */
            start: string;
            /** @description A value of the dimension. */
            key: string;
        };
        LatencyBucketResponse: {
            /** @description Successful calls with a known time. */
            calls: number;
            /** @description Milliseconds, median, within 5 %; null without calls. */
            p50_ms: number | null;
            /** @description The 95th percentile, likewise. */
            p95_ms: number | null;
            /** @description UTC day, or the start of an hour. */
            start: string;
        };
        AccountTimeseriesResponse: {
            /** @description The asked application; null: the account. */
            app_id: string | null;
            /**
             * Format: date
             * @description First UTC day.
             */
            from: string;
            /**
             * Format: date
             * @description Last UTC day, inclusive.
             */
            to: string;
            /** @enum {string} */
            unit: "day" | "hour";
            /** @enum {string} */
            by: "provider" | "model" | "app" | "status";
            /** @description By start, then by key; days and hours without usage are absent. */
            buckets: components["schemas"]["SeriesBucketResponse"][];
            /** @description By start; of the last 90 days. */
            latencies: components["schemas"]["LatencyBucketResponse"][];
        };
        UsageTotalsResponse: {
            /** @description Every recorded request, refused ones included. */
            requests: number;
            /** @description Prompt tokens neither read from nor written to a cache. */
            input_tokens: number;
            /** @description Prompt tokens read from a cache. */
            cached_input_tokens: number;
            /** @description Prompt tokens written to a cache. */
            cache_write_tokens: number;
            /** @description Generated tokens, reasoning included. */
            output_tokens: number;
            /** @description US dollars. */
            cost_usd: number;
            /** @description Estimate in US dollars in addition to `cost_usd` for calls of unknown usage; counts against budgets. */
            estimated_cost_usd: number;
            /** @description Requests that failed at the provider. */
            errors: number;
            /** @description Refused requests: by a limit, a plan, a block or the configuration, or because they were not valid. */
            blocked: number;
        };
        AccountShareResponse: {
            /** @description Every recorded request, refused ones included. */
            requests: number;
            /** @description Prompt tokens neither read from nor written to a cache. */
            input_tokens: number;
            /** @description Prompt tokens read from a cache. */
            cached_input_tokens: number;
            /** @description Prompt tokens written to a cache. */
            cache_write_tokens: number;
            /** @description Generated tokens, reasoning included. */
            output_tokens: number;
            /** @description US dollars. */
            cost_usd: number;
            /** @description Estimate in US dollars in addition to `cost_usd` for calls of unknown usage; counts against budgets. */
            estimated_cost_usd: number;
            /** @description Requests that failed at the provider. */
            errors: number;
            /** @description Refused requests: by a limit, a plan, a block or the configuration, or because they were not valid. */
            blocked: number;
            /** @description Null: requests without one. */
            key: string | null;
            /** @description The application of the user, the endpoint or the application key; null for other dimensions. */
            app_id: string | null;
            /** @description Time to the first byte, by `app`, `model` and `provider`, of the last 90 days; null for others. */
            latency: components["schemas"]["LatencyResponse"] | null;
            /** @description Time to the last byte of complete answers, likewise. */
            duration: components["schemas"]["LatencyResponse"] | null;
        };
        AccountBreakdownResponse: {
            /** @description The asked application; null: the account. */
            app_id: string | null;
            /**
             * @description As asked.
             * @example model
             */
            by: string;
            /**
             * Format: date
             * @description First UTC day.
             */
            from: string;
            /**
             * Format: date
             * @description Last UTC day, inclusive.
             */
            to: string;
            /**
             * Format: date
             * @description First UTC day of the rows: `from`, or a later day if this detail of earlier days is deleted. Later than `to` if all of it is deleted.
             */
            complete_from: string;
            /** @description Usage from `complete_from` to `to`: the total to which shares of rows refer. */
            total: components["schemas"]["UsageTotalsResponse"];
            /** @description Most requests first, then by key. */
            rows: components["schemas"]["AccountShareResponse"][];
        };
        AccountEventsResponse: {
            /** @description The asked application; null: the account. */
            app_id: string | null;
            /**
             * Format: date
             * @description First UTC day.
             */
            from: string;
            /**
             * Format: date
             * @description Last UTC day, inclusive.
             */
            to: string;
            limit: number;
            /** @description Cursor of the next answer; null: the period has no older events. A page that is not full may have one. */
            next: string | null;
            /** @description Newest first. */
            events: components["schemas"]["UsageEventResponse"][];
        };
        UsageExportManifestResponse: {
            /** @description Events, without a line of headings. */
            rows: number;
            /**
             * @description Sum of `cost_nano_usd`, without estimates; exact up to 2^53.
             * @example 14700000
             */
            sum_nano_usd: number;
            /**
             * @description Of the concatenated pages, in hexadecimal.
             * @example e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
             */
            sha256: string;
            /** Format: date-time */
            since: string;
            /**
             * Format: date-time
             * @description As requested, exclusive.
             */
            until: string;
            /**
             * Format: date-time
             * @description End of the export, exclusive: `until`, or an earlier time after which events may still be stored.
             */
            settled_until: string;
            /** @description False: `settled_until` is before `until`, or events of the period were deleted by age. */
            complete: boolean;
        };
        RepriceUsageRequest: {
            /**
             * @description Type of the provider that served.
             * @enum {string}
             */
            provider: "openai" | "anthropic" | "xai" | "gemini" | "perplexity" | "deepseek" | "groq" | "mistral" | "together" | "fireworks" | "cerebras" | "moonshot" | "huggingface" | "baseten" | "bytedance" | "openrouter";
            /** @description The canonical model. */
            model: string;
            /** @description UTC month. */
            month: string;
            /** @description Write the new costs; a preview when absent. */
            apply?: boolean;
        };
        RepriceUsageResponse: {
            app_id: string;
            /** @description Type of the provider. */
            provider: string;
            model: string;
            /**
             * @description UTC month.
             * @example 2026-11
             */
            month: string;
            /** @description Whether the new costs were written. */
            applied: boolean;
            /** @description Events that can be repriced. */
            matched_events: number;
            /** @description Those without any measure: they cost 0. */
            unmetered_events: number;
            /** @description Other events, whose measures have no price. */
            unpriced_events: number;
            /** @description US dollars: what the events without a price cost as recorded. */
            unpriced_cost_usd: number;
            /** @description US dollars: what the events that can be repriced cost before. */
            previous_cost_usd: number;
            /** @description US dollars: what they cost at the prices of their own days, as we know them now. */
            recalculated_cost_usd: number;
            /** @description US dollars: the new cost less the one before. */
            delta_usd: number;
        };
        SettleEstimatesRequest: {
            /** @description UTC month. */
            month: string;
            /** @description Write the new costs; a preview when absent. */
            apply?: boolean;
            /**
             * @description What the estimate of each event becomes: zero, a cost of the same amount, or a cost in US dollars for each event.
             * @example zero
             */
            cost: ("zero" | "estimate") | {
                usd: number;
            };
            /** @description Only events that match all of its members. */
            filter?: {
                /**
                 * @description Type of the provider.
                 * @enum {string}
                 */
                provider?: "openai" | "anthropic" | "xai" | "gemini" | "perplexity" | "deepseek" | "groq" | "mistral" | "together" | "fireworks" | "cerebras" | "moonshot" | "huggingface" | "baseten" | "bytedance" | "openrouter";
                /** @description The canonical model. */
                model?: string;
                /** @enum {string} */
                status?: "ok" | "provider_error" | "blocked_app_rate" | "blocked_app_budget" | "blocked_billing" | "blocked_user" | "blocked_policy" | "blocked_invalid";
                /** @description Ids as the list of events shows them. */
                event_ids?: (number | string)[];
            };
        };
        SettledEventResponse: {
            /** @description As the list of events shows it. */
            id: number;
            /** Format: date-time */
            created_at: string;
            /** @description Type of the provider. */
            provider: string;
            model: string;
            /** @enum {string} */
            status: "ok" | "provider_error" | "blocked_app_rate" | "blocked_app_budget" | "blocked_billing" | "blocked_user" | "blocked_policy" | "blocked_invalid";
            /** @description US dollars: its cost before. */
            previous_cost_usd: number;
            /** @description US dollars: its estimate before. */
            previous_estimated_cost_usd: number;
            /** @description US dollars: its cost after. */
            cost_usd: number;
            /** @description US dollars: its estimate after. */
            estimated_cost_usd: number;
        };
        SettleEstimatesResponse: {
            app_id: string;
            /**
             * @description UTC month.
             * @example 2026-11
             */
            month: string;
            /** @description Whether the new costs were written. */
            applied: boolean;
            /** @description Events with an estimate that were included. */
            matched_events: number;
            /** @description More events match: repeat the request. */
            has_more: boolean;
            /** @description US dollars: what those events cost before. */
            previous_cost_usd: number;
            /** @description US dollars: what they were estimated at beside that. */
            previous_estimated_cost_usd: number;
            /** @description US dollars: what they cost after. */
            settled_cost_usd: number;
            /** @description US dollars: what they are estimated at after. */
            settled_estimated_cost_usd: number;
            /** @description US dollars: what they count against budgets after, less what they did before. */
            delta_usd: number;
            /** @description The first of them, at most 20. */
            sample: components["schemas"]["SettledEventResponse"][];
        };
        UserResponse: {
            id: string;
            /** @enum {string} */
            status: "active" | "blocked";
            /** @description The attestation key used last. */
            attest_key_id: string | null;
            /** @description Whether a device of this user is registered. */
            attest_registered: boolean;
            /** @description Counter of that key; 0 without one. */
            attest_counter: number;
            /**
             * Format: date-time
             * @description When the user was first active, or blocked before that.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Renewed at most once a minute; null before the first exchange.
             */
            last_seen_at: string | null;
            /** @description Known only from usage or a former block, without an exchange; always active. */
            is_virtual: boolean;
            /** @description Of the requested month. */
            usage: components["schemas"]["UsageTotalsResponse"];
            /** @description US dollars that count against the budget of the user in the requested month: costs and estimates. */
            budget_spent_usd: number;
            /** @description Whether that reaches the budget of a month as configured now, or, in the current month, the budget of the day or week is spent, so that calls are refused. */
            at_limit: boolean;
        };
        UserListResponse: {
            app_id: string;
            /**
             * @description UTC month of the usage.
             * @example 2026-01
             */
            month: string;
            /** @description Users on all pages. */
            total: number;
            limit: number;
            offset: number;
            /** @description Null: this page was not full. */
            next_cursor: string | null;
            /** @description US dollars that each user may spend in a month, as configured now; null: unlimited. */
            monthly_budget_usd: number | null;
            /** @description In the order of `sort`. */
            users: components["schemas"]["UserResponse"][];
        };
        UserLimitsResponse: {
            /** @description Requests in the current UTC day; null if the application sets no limit per user. */
            requests_today: number | null;
            /** @description What is left of `requests_per_day`; null without a daily limit. */
            requests_remaining: number | null;
            /** @description Limit for one user; null: no limit. */
            requests_per_minute: number | null;
            /** @description Limit for one user; null: no limit. */
            requests_per_day: number | null;
            /** @description Tokens in the current UTC day; null without a daily limit of tokens. */
            tokens_today: number | null;
            /** @description What is left of the tokens of the day; null without a daily limit of tokens. */
            tokens_remaining: number | null;
            /** @description US dollars spent in the current UTC month. */
            monthly_cost_usd: number;
            /** @description Estimate in US dollars beside `monthly_cost_usd` for calls of unknown usage; counts against the budget. */
            estimated_cost_usd: number;
            /** @description US dollars for one user; null without a budget. */
            monthly_budget_usd: number | null;
            /** @description US dollars spent in the current UTC day; null without a daily budget. */
            daily_cost_usd: number | null;
            /** @description US dollars for one user and UTC day; null without a daily budget. */
            daily_budget_usd: number | null;
            /** @description US dollars spent since Monday, UTC; null without a weekly budget. */
            weekly_cost_usd: number | null;
            /** @description US dollars for one user and week; null without a weekly budget. */
            weekly_budget_usd: number | null;
            /** @description Calls to providers are refused while this is true. */
            blocked: boolean;
        };
        UserDayResponse: {
            /** @description Every recorded request, refused ones included. */
            requests: number;
            /** @description Prompt tokens neither read from nor written to a cache. */
            input_tokens: number;
            /** @description Prompt tokens read from a cache. */
            cached_input_tokens: number;
            /** @description Prompt tokens written to a cache. */
            cache_write_tokens: number;
            /** @description Generated tokens, reasoning included. */
            output_tokens: number;
            /** @description US dollars. */
            cost_usd: number;
            /** @description Estimate in US dollars in addition to `cost_usd` for calls of unknown usage; counts against budgets. */
            estimated_cost_usd: number;
            /** @description Requests that failed at the provider. */
            errors: number;
            /** @description Refused requests: by a limit, a plan, a block or the configuration, or because they were not valid. */
            blocked: number;
            /**
             * Format: date
             * @description UTC day.
             */
            date: string;
        };
        SingleUserResponse: {
            app_id: string;
            /**
             * @description UTC month of the usage.
             * @example 2026-01
             */
            month: string;
            user: components["schemas"]["UserResponse"];
            /** @description Of today and the current month, whatever the requested one. */
            limits: components["schemas"]["UserLimitsResponse"];
            /** @description The requested month by UTC day, for the last 90 days; days without usage are absent. */
            days: components["schemas"]["UserDayResponse"][];
        };
        UserBlockResponse: {
            app_id: string;
            user_id: string;
            blocked: boolean;
        };
        MailResource: {
            /** @description False: the gateway has no `SMTP_URL`, so no mail is sent. */
            configured: boolean;
            /** @description Where your mails go; null: you have no address. */
            address: string | null;
            /** @description Which events of this account are mailed to you. Empty: none. Null: every event. */
            events: string[] | null;
        };
        MailResponse: {
            mail: components["schemas"]["MailResource"];
        };
        UpdateMailRequest: {
            /** @description Types such as `app_key.created`, or prefixes such as `app_key.*`. Empty: no mail. Null: every event. */
            events: string[] | null;
        };
        WebhookResource: {
            /** @example wh_0a1b2c3d4e5f6g7h8i9j */
            id: string;
            name: string;
            url: string;
            /** @description Null: every event. */
            events: string[] | null;
            /** @description Ids of applications. Null: every event. */
            apps: string[] | null;
            enabled: boolean;
            /**
             * @description `gone`: the endpoint answered 410, so the gateway disabled the webhook.
             * @enum {string|null}
             */
            disabled_reason: "gone" | null;
            /**
             * Format: date-time
             * @description Until then events are also signed with the previous secret.
             */
            previous_secret_until: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        EventTypeResource: {
            /** @example app_key.created */
            type: string;
            /**
             * @description What happened, as a sentence.
             * @example An application key was created.
             */
            means: string;
        };
        WebhookListResponse: {
            /** @description Oldest first. */
            webhooks: components["schemas"]["WebhookResource"][];
            /** @description What `events` may list; a prefix such as `app_key.*` stands for all with it. */
            event_types: components["schemas"]["EventTypeResource"][];
        };
        CreateWebhookRequest: {
            /** @description Where events are sent: https, or a host of `TRUSTED_PRIVATE_HOSTS`. */
            url: string;
            /** @description For people. The host of the URL when absent. */
            name?: string;
            /** @description Types such as `app_key.created`, or prefixes such as `app_key.*`. Null: every event. */
            events?: string[] | null;
            /** @description Ids of applications; only events about them are sent. Null: every event. */
            apps?: string[] | null;
            /** @description False: no event is sent. */
            enabled?: boolean;
        };
        WebhookSecretResponse: {
            webhook: components["schemas"]["WebhookResource"];
            /**
             * @description Verifies signatures. Shown only once.
             * @example whsec_bm90IGEgc2VjcmV0
             */
            secret: string;
        };
        WebhookResponse: {
            webhook: components["schemas"]["WebhookResource"];
        };
        UpdateWebhookRequest: {
            /** @description Where events are sent: https, or a host of `TRUSTED_PRIVATE_HOSTS`. */
            url?: string;
            /** @description For people. */
            name?: string;
            /** @description Types such as `app_key.created`, or prefixes such as `app_key.*`. Null: every event. */
            events?: string[] | null;
            /** @description Ids of applications; only events about them are sent. Null: every event. */
            apps?: string[] | null;
            /** @description False: no event is sent. Undelivered events are dropped. */
            enabled?: boolean;
        };
        DeletedWebhookResponse: {
            /** @enum {boolean} */
            deleted: true;
            webhook_id: string;
        };
        DeliveryResource: {
            /** @description Increases with time; the cursor of the list. */
            id: number;
            /** @description `webhook-id` of the request; the same at each attempt. */
            event_id: string;
            /** @example app_key.created */
            type: string;
            /**
             * @description `failed`: no attempt of three days succeeded. `disabled`: the webhook was disabled first.
             * @enum {string}
             */
            status: "pending" | "delivered" | "failed" | "disabled";
            attempts: number;
            /** @description Of the last attempt; null: there was no answer. */
            response_status: number | null;
            /** @description Of the last attempt. */
            duration_ms: number | null;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Null unless pending.
             */
            next_attempt_at: string | null;
        };
        DeliveryResponse: {
            delivery: components["schemas"]["DeliveryResource"];
        };
        DeliveriesResponse: {
            limit: number;
            /** @description Null: there are no older deliveries. */
            next_before_id: number | null;
            /** @description Newest first. */
            deliveries: components["schemas"]["DeliveryResource"][];
        };
        SentDeliveryResponse: {
            delivery: components["schemas"]["DeliveryResource"];
            /** @description The JSON that each attempt sends, exactly as it is signed. */
            body: string;
        };
        AttentionItemResponse: {
            /**
             * @description `provider_failing`: its last calls all failed. `app_budget`: 80 % of a budget of the application is spent. `user_budgets`: users have spent 80 % of one of theirs. `unresolved_costs`: calls of the last 30 days whose cost is not known. `unused_app_key`, `unused_management_key`: not used for 90 days.
             * @enum {string}
             */
            kind: "provider_failing" | "app_budget" | "user_budgets" | "unresolved_costs" | "unused_app_key" | "unused_management_key";
            /** @description Id of the provider, application or key. */
            id: string;
            /** @description Its name. */
            name: string;
            /** @description The application; null: it belongs to the account. */
            app_id: string | null;
            /** @description Its name. */
            app_name: string | null;
            /** @description Failed calls, at most 100 of each model; users; calls of unknown cost; 1 for others. */
            count: number;
            /** @description US dollars: spent, the highest amount spent by a user, or estimated; null for items without an amount. */
            amount_usd: number | null;
            /** @description Its budget in US dollars, if any. */
            budget_usd: number | null;
            /**
             * @description How long that budget is for: the current day, week (from Monday) or month, UTC, or in total.
             * @enum {string|null}
             */
            window: "day" | "week" | "month" | "total" | null;
            /**
             * Format: date-time
             * @description The first failed call, first day of unknown costs, or last use; creation of a key that was never used.
             */
            since: string | null;
        };
        AttentionResponse: {
            /** @description At most 20 of each kind, the most pressing first. */
            items: components["schemas"]["AttentionItemResponse"][];
        };
        AppUserCountsResponse: {
            /** @description Users seen, those known from usage only included. */
            total: number;
            /** @description Users blocked. */
            blocked: number;
        };
        AppSummaryResponse: {
            id: string;
            name: string;
            /** @description Your own name for it in scripts and files; null: none. */
            handle: string | null;
            /** @enum {string} */
            status: "active" | "disabled";
            /**
             * @description `invalid`: the stored configuration is no longer valid.
             * @enum {string}
             */
            authentication_type: "device_app_attest" | "device_proofs" | "api_key" | "invalid";
            /** @description Bundle id of a mobile application. */
            apple_bundle_id: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description Slugs of the active providers it can reach. */
            providers: string[];
            /** @description Slugs and types that its configuration names. */
            referenced_providers: string[];
            /** @description Number of models its providers are restricted to; 0 if unrestricted. */
            allowed_model_count: number;
            /** @description Budget of the whole application. */
            monthly_budget_usd: number | null;
            users: components["schemas"]["AppUserCountsResponse"];
            /** @description Of the requested month. */
            usage: components["schemas"]["UsageTotalsResponse"];
        };
        AppListResponse: {
            /**
             * @description UTC month of the usage.
             * @example 2026-01
             */
            month: string;
            /** @description Whether the account ever sent a request. */
            has_proxied_requests: boolean;
            /** @description Of the whole account, deleted applications included. */
            usage: components["schemas"]["UsageTotalsResponse"];
            /** @description Applications on all pages. */
            total: number;
            /** @description In the requested order. */
            apps: components["schemas"]["AppSummaryResponse"][];
        };
        AppRequiredClaimContains: {
            /** @description Dotted path of the claim, or the list of names on the way to it, such as `["https://example.com/claims", "plan"]`. */
            path: string | string[];
            /** @description The claim must hold one of these. */
            contains: string | string[];
        };
        AppRequiredClaimEquals: {
            /** @description Dotted path of the claim, or the list of names on the way to it, such as `["https://example.com/claims", "plan"]`. */
            path: string | string[];
            /** @description The claim must be exactly this. */
            equals: string | number | boolean;
        };
        /**
         * @example {
         *       "jwks_url": "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
         *       "issuer": [
         *         "https://securetoken.google.com/my-project"
         *       ],
         *       "audience": [
         *         "my-project"
         *       ],
         *       "user_id_claim": "sub",
         *       "required_claims": [],
         *       "max_token_lifetime_seconds": 86400,
         *       "provider": "firebase"
         *     }
         * @example {
         *       "jwks_url": "https://abcdefghijklmnopqrst.supabase.co/auth/v1/.well-known/jwks.json",
         *       "issuer": [
         *         "https://abcdefghijklmnopqrst.supabase.co/auth/v1"
         *       ],
         *       "audience": [
         *         "authenticated"
         *       ],
         *       "user_id_claim": "sub",
         *       "required_claims": [],
         *       "max_token_lifetime_seconds": 86400,
         *       "provider": "supabase"
         *     }
         * @example {
         *       "jwks_url": "https://my-tenant.eu.auth0.com/.well-known/jwks.json",
         *       "issuer": [
         *         "https://my-tenant.eu.auth0.com/"
         *       ],
         *       "audience": [
         *         "https://api.example.com"
         *       ],
         *       "user_id_claim": "sub",
         *       "required_claims": [],
         *       "max_token_lifetime_seconds": 86400,
         *       "provider": "auth0"
         *     }
         * @example {
         *       "jwks_url": "https://clerk.example.com/.well-known/jwks.json",
         *       "issuer": [
         *         "https://clerk.example.com"
         *       ],
         *       "audience": [
         *         "gateway"
         *       ],
         *       "user_id_claim": "sub",
         *       "required_claims": [],
         *       "max_token_lifetime_seconds": 86400,
         *       "provider": "clerk"
         *     }
         * @example {
         *       "jwks_url": "https://id.example.com/.well-known/jwks.json",
         *       "issuer": [
         *         "https://id.example.com"
         *       ],
         *       "audience": [
         *         "my-app"
         *       ],
         *       "user_id_claim": "sub",
         *       "required_claims": [],
         *       "max_token_lifetime_seconds": 86400,
         *       "provider": "custom"
         *     }
         */
        AppIssuer: {
            /**
             * Format: uri
             * @description The public key set; https.
             */
            jwks_url: string;
            /** @description Accepted `iss` values. */
            issuer: string | string[];
            /** @description Accepted `aud` values. */
            audience: string | string[];
            /** @description Claim that is the user id, usually `sub`. Dotted path of the claim, or the list of names on the way to it, such as `["https://example.com/claims", "plan"]`. */
            user_id_claim: string | string[];
            token_header?: string;
            /** @description The subscription check; may be empty. */
            required_claims: (components["schemas"]["AppRequiredClaimContains"] | components["schemas"]["AppRequiredClaimEquals"])[];
            /** @description Maximum accepted lifetime of a token. */
            max_token_lifetime_seconds: number;
            /**
             * @description Console bookkeeping; ignored.
             * @enum {string}
             */
            provider?: "firebase" | "supabase" | "auth0" | "clerk" | "custom";
            /**
             * @description Console bookkeeping; ignored.
             * @enum {string}
             */
            entitlement?: "revenuecat" | "custom";
        };
        AppIssuerUser: {
            /** @enum {string} */
            source: "issuer";
            issuer: components["schemas"]["AppIssuer"];
        };
        AppInstallUser: {
            /** @enum {string} */
            source: "app_install";
        };
        AppAttest: {
            team_id: string;
            bundle_id: string;
            /**
             * @default [
             *       "production"
             *     ]
             */
            environments: ("production" | "development")[];
        };
        AppDeviceAuthentication: {
            /** @enum {string} */
            type: "device_app_attest";
            /** @description Who the user is. */
            end_user: components["schemas"]["AppIssuerUser"] | components["schemas"]["AppInstallUser"];
            app_attest: components["schemas"]["AppAttest"];
        };
        AppProofAppAttest: {
            team_id: string;
            bundle_id: string;
            /**
             * @default [
             *       "production"
             *     ]
             */
            environments: ("production" | "development")[];
            /** @description Allowed sources of the installation, as iOS and macOS 27 sign them: 2 TestFlight, 3 development, 4 App Store, 5 enterprise or ad hoc, and others. */
            allowed_categories?: number[];
            /** @description Lowest signed `CFBundleVersion`, as dotted numbers; older apps get 403 `app_version_too_old`. */
            min_bundle_version?: string;
            /** @description True refuses devices that sign neither, such as systems before 27; absent or false: they are accepted. */
            require_signals?: boolean;
            /**
             * @description `enforce` refuses a failed proof. `observe` and `tier` give it a token that says `proof: none`; with `tier` it has the limits of `limits.unproven`. Devices choose the proof: an application is as strict as its loosest one.
             * @default enforce
             * @enum {string}
             */
            mode: "enforce" | "tier" | "observe";
            /**
             * @description True lets the client of Apple’s language-model framework sign in below the address of a provider of the Messages API; only with `app_install`.
             * @default false
             */
            framework_client: boolean;
        };
        AppKeyAttestation: {
            /** @description Application ids; one of them must be attested. */
            package_names: string[];
            /** @description SHA-256 of the certificates that sign the app, 64 hexadecimal digits each: your own and the one of the store. Returned in lower case. */
            signing_certificates: string[];
            /**
             * @description Where the key is stored: the trusted environment, or StrongBox, which fewer phones have.
             * @default tee
             * @enum {string}
             */
            min_security_level: "tee" | "strongbox";
            /** @description Oldest security patch of the system, YYYYMM. */
            min_os_patch?: number;
            /**
             * @description `remote`: only devices whose attesting key the vendor renews over the air; leaked ones expire.
             * @default any
             * @enum {string}
             */
            provisioning: "any" | "remote";
            /**
             * @description False accepts systems that the device’s vendor did not sign. An unlocked bootloader is always refused.
             * @default true
             */
            verified_boot: boolean;
            /** @description Lowest attested version code; older apps get 403 `app_version_too_old`. */
            min_version_code?: number;
            /**
             * @description `enforce` refuses a failed proof. `observe` and `tier` give it a token that says `proof: none`; with `tier` it has the limits of `limits.unproven`. Devices choose the proof: an application is as strict as its loosest one.
             * @default enforce
             * @enum {string}
             */
            mode: "enforce" | "tier" | "observe";
        };
        AppPlayIntegrity: {
            /** @description Application id that the token must name. */
            package_name: string;
            /** @description SHA-256 of the certificates that may sign the app, 64 hexadecimal digits each. Absent: whatever the verdict allows. Returned in lower case. */
            certificates?: string[];
            /** @description Device verdicts that the token must contain, all of them. */
            require: ("MEETS_BASIC_INTEGRITY" | "MEETS_DEVICE_INTEGRITY" | "MEETS_STRONG_INTEGRITY" | "MEETS_VIRTUAL_INTEGRITY")[];
            /**
             * @description True accepts copies that Google Play does not recognize, including repackaged ones unless `certificates` is set.
             * @default false
             */
            allow_unrecognized: boolean;
            /**
             * @description True accepts users who did not get the app from Google Play.
             * @default false
             */
            allow_unlicensed: boolean;
            /**
             * @description True accepts tokens whose verdicts were chosen in Play Console.
             * @default false
             */
            allow_testing: boolean;
            /**
             * @description Who decodes tokens: the vendor, asked once per registration, or the gateway with the response keys of the app (classic requests only). Both need credentials.
             * @enum {string}
             */
            decode: "vendor" | "local";
            /**
             * @description `enforce` refuses a failed proof. `observe` and `tier` give it a token that says `proof: none`; with `tier` it has the limits of `limits.unproven`. Devices choose the proof: an application is as strict as its loosest one.
             * @default enforce
             * @enum {string}
             */
            mode: "enforce" | "tier" | "observe";
        };
        AppProofs: {
            /** @description App Attest, for Apple devices. */
            app_attest?: components["schemas"]["AppProofAppAttest"];
            /** @description Key attestation, for Android devices. */
            key_attestation?: components["schemas"]["AppKeyAttestation"];
            /** @description Play Integrity of Android devices. */
            play_integrity?: components["schemas"]["AppPlayIntegrity"];
        };
        AppDeviceProofsAuthentication: {
            /** @enum {string} */
            type: "device_proofs";
            /** @description Who the user is. */
            end_user: components["schemas"]["AppIssuerUser"] | components["schemas"]["AppInstallUser"];
            /** @description What devices may prove themselves with: at least one. */
            proofs: components["schemas"]["AppProofs"];
            /** @description Lowest `X-App-Version` at registration and exchange, as dotted numbers; lower and other ones get 403 `app_version_too_old`. */
            min_app_version?: string;
        };
        AppHeaderUser: {
            /** @enum {string} */
            source: "header";
            /**
             * @description Returned in lower case.
             * @default x-end-user-id
             */
            header: string;
        };
        AppNoUser: {
            /**
             * @description The same as leaving `end_user` out.
             * @enum {string}
             */
            source: "none";
        };
        AppApiKeyAuthentication: {
            /** @enum {string} */
            type: "api_key";
            /** @description Absent: calls belong to no user. */
            end_user?: components["schemas"]["AppHeaderUser"] | components["schemas"]["AppIssuerUser"] | components["schemas"]["AppNoUser"];
        };
        AppAllProviders: {
            /** @enum {string} */
            mode: "all";
        };
        AppAllowedPath: {
            /** @description Provider path. One `{model}` stands for a model; or one `{object}` for the id of an object that the provider keeps and the caller owns. */
            path: string;
            /** @description The model whose price applies to a path without a model. */
            fixed_model?: string;
            /**
             * @description The body members with the output ceiling, if the path does not determine them.
             * @enum {string}
             */
            clamp?: "responses" | "chat_completions" | "gemini_native" | "anthropic" | "none";
            /** @description The allowed methods. Absent: GET for lists of models, GET and DELETE for a path that ends in `{object}`, POST for every other path. A GET, a DELETE and the POST of a path that ends in `{object}/cancel` are sent without a body and cost nothing. */
            methods?: ("GET" | "POST" | "PUT" | "PATCH" | "DELETE")[];
        };
        AppSelectedProvider: {
            /** @description Empty: the inference paths of the provider’s type, with POST. */
            allowed_paths: (string | components["schemas"]["AppAllowedPath"])[];
            /** @description Empty: every priced model. */
            allowed_models: string[];
            /** @description A client’s value above it is refused; a missing one is set to it. */
            max_output_tokens?: number;
        };
        AppSelectedProviders: {
            /** @enum {string} */
            mode: "selected";
            /** @description By provider slug, else by provider type. */
            selected: {
                [key: string]: components["schemas"]["AppSelectedProvider"];
            };
        };
        AppRouting: {
            /** @description The providers that calls may reach. */
            providers: components["schemas"]["AppAllProviders"] | components["schemas"]["AppSelectedProviders"];
            /** @description Replacement by the model name a client sends. */
            model_rewrites: {
                [key: string]: string;
            };
        };
        AppRequestLimits: {
            /** @description Null: unlimited. */
            per_minute?: number | null;
            /** @description Per UTC day. */
            per_day?: number | null;
        };
        AppSpendingLimits: {
            /** @description US dollars per UTC month, at most six decimals; null: unlimited. */
            monthly_usd?: number | null;
            /** @description US dollars per UTC day; absent or null: unlimited. */
            daily_usd?: number | null;
            /** @description US dollars per week, which begins on Monday, UTC; absent or null: unlimited. */
            weekly_usd?: number | null;
            /** @description US dollars in total, not for users; absent or null: unlimited. */
            total_usd?: number | null;
            /** @description Shares of each budget, ascending, at which webhooks get `budget.threshold_reached`; absent: 0.5, 0.8 and 1. */
            thresholds?: number[];
        };
        AppTokenLimits: {
            /** @description Tokens of prompts and answers per clock minute, UTC. */
            per_minute?: number | null;
            /** @description Per UTC day. */
            per_day?: number | null;
        };
        AppScopeLimits: {
            requests?: components["schemas"]["AppRequestLimits"];
            spending?: components["schemas"]["AppSpendingLimits"];
            /** @description Absent: unlimited. */
            tokens?: components["schemas"]["AppTokenLimits"];
        };
        AppGroupLimits: {
            requests?: components["schemas"]["AppRequestLimits"];
            spending?: components["schemas"]["AppSpendingLimits"];
            /** @description Absent: unlimited. */
            tokens?: components["schemas"]["AppTokenLimits"];
            /** @description The request header that names the group of a call; for backends. Returned in lower case. */
            header?: string;
            /** @description The claim of the identity token that names the group of a user. Dotted path of the claim, or the list of names on the way to it, such as `["https://example.com/claims", "plan"]`. */
            claim?: string | string[];
        };
        AppRunLimits: {
            /** @description The maximum of `X-Run-Budget-Usd`, and the budget of a run without it; US dollars. */
            max_usd: number;
        };
        AppUnprovenLimits: {
            requests?: components["schemas"]["AppRequestLimits"];
            spending?: components["schemas"]["AppSpendingLimits"];
            /** @description Absent: unlimited. */
            tokens?: components["schemas"]["AppTokenLimits"];
            /** @description The only named endpoints that they may call; absent: everything that others may call. */
            allowed_endpoints?: string[];
        };
        AppLimits: {
            /** @description Only where callers have a user identity. */
            per_user?: components["schemas"]["AppScopeLimits"];
            per_app?: components["schemas"]["AppScopeLimits"];
            /** @description By name, at most three, checked in this order; usage is counted from when they are set. */
            groups?: {
                [key: string]: components["schemas"]["AppGroupLimits"];
            };
            /** @description Absent: `X-Run-Id` is refused. */
            runs?: components["schemas"]["AppRunLimits"];
            /** @description Of all devices together whose failed proof has `mode: tier`. Usage shows them as the group `unproven`, of the value `all`. */
            unproven?: components["schemas"]["AppUnprovenLimits"];
        };
        AppEndpointTarget: {
            /** @description Slug of a provider. */
            provider: string;
            /** @description Must have a price. */
            model: string;
        };
        AppStreams: {
            /** @description How long an answer is kept after its end, in seconds; 0: no byte of an answer is kept. */
            resume_seconds: number;
            /** @description How many bytes of an answer are kept; what follows them reaches only the client of the call. */
            max_bytes?: number;
        };
        AppResponsesEndpoint: {
            /** @description Slug of a provider. */
            provider: string;
            /** @description Must have a price. */
            model: string;
            /** @enum {string} */
            api_style: "responses";
            /** @description Merged over the client’s body; overrides it at every depth. */
            params?: {
                [key: string]: unknown;
            };
            /** @description A client’s value above it is refused; a missing one is set to it. */
            max_output_tokens?: number;
            /** @description Tried in order when the provider fails before the first byte. */
            fallback?: components["schemas"]["AppEndpointTarget"][];
            /** @description Replaces `streams` of the application for this endpoint. */
            streams?: components["schemas"]["AppStreams"];
        };
        AppTranscriptionEndpoint: {
            /** @description Slug of a provider. */
            provider: string;
            /** @description Must have a price. */
            model: string;
            /** @enum {string} */
            api_style: "transcription";
            /** @description Tried in order when the provider fails before the first byte. */
            fallback?: components["schemas"]["AppEndpointTarget"][];
            /** @description Replaces `streams` of the application for this endpoint. */
            streams?: components["schemas"]["AppStreams"];
        };
        AppConfig: {
            /** @description How callers authenticate. */
            authentication: components["schemas"]["AppDeviceAuthentication"] | components["schemas"]["AppDeviceProofsAuthentication"] | components["schemas"]["AppApiKeyAuthentication"];
            routing: components["schemas"]["AppRouting"];
            limits?: components["schemas"]["AppLimits"];
            /** @description By slug, 1 to 64 of a-z, 0-9 and -: the last segment of the endpoint’s address. */
            endpoints?: {
                [key: string]: components["schemas"]["AppResponsesEndpoint"] | components["schemas"]["AppTranscriptionEndpoint"];
            };
            /** @description The origins whose pages may call the application, exactly as browsers send them: https, http on localhost, 127.0.0.1 or [::1], `capacitor://localhost`, `ionic://localhost`. Absent or empty: no CORS. */
            allowed_origins?: string[];
            /** @description Keeps answers of models for a while, sealed, so that a client that lost its connection can read on. Absent: no byte of an answer is kept. */
            streams?: components["schemas"]["AppStreams"];
        };
        CreateAppRequest: {
            /** @description A display name; surrounding blanks are removed. */
            name: string;
            /** @description Your own name for it in scripts and files, unique in the account. Null or absent: none. */
            handle?: string | null;
            config: components["schemas"]["AppConfig"];
            /**
             * @description `active` when absent.
             * @enum {string}
             */
            status?: "active" | "disabled";
        };
        AppResource: {
            /** @description Assigned by the service; never changes. */
            id: string;
            name: string;
            /** @description Your own name for it in scripts and files; null: none. */
            handle: string | null;
            /** @description Normalised, defaults filled in. */
            config: components["schemas"]["AppConfig"] | {
                [key: string]: unknown;
            };
            /** @enum {string} */
            status: "active" | "disabled";
            /** @description Increases by one with each write. */
            revision: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        CreatedAppResponse: {
            app: components["schemas"]["AppResource"];
            /** @description What is enforced at run time, for display; null when the configuration is no longer valid. */
            resolved: {
                [key: string]: unknown;
            } | null;
            /** @description Why the stored configuration is no longer valid. */
            config_error: string | null;
            /** @description The first key of an application with authentication type `api_key`; null for others. */
            api_key: components["schemas"]["IssuedAppKeyResponse"] | null;
        };
        AppResponse: {
            app: components["schemas"]["AppResource"];
            /** @description What is enforced at run time, for display; null when the configuration is no longer valid. */
            resolved: {
                [key: string]: unknown;
            } | null;
            /** @description Why the stored configuration is no longer valid. */
            config_error: string | null;
        };
        ReplaceAppRequest: {
            /** @description A display name; surrounding blanks are removed. */
            name: string;
            /** @description Your own name for it in scripts and files, unique in the account. Null: none. Absent: the stored one stays. */
            handle?: string | null;
            config: components["schemas"]["AppConfig"];
            /**
             * @description Absent: the stored status stays.
             * @enum {string}
             */
            status?: "active" | "disabled";
            /** @description The revision that was read. */
            revision: number;
        };
        ValidateAppRequest: {
            /** @description A display name; surrounding blanks are removed. */
            name: string;
            /** @description Your own name for it in scripts and files, unique in the account. Null: none. Absent: the stored one stays. */
            handle?: string | null;
            config: components["schemas"]["AppConfig"];
            /**
             * @description Absent: the stored status stays.
             * @enum {string}
             */
            status?: "active" | "disabled";
            /** @description Refused when it is not the stored one, as a replacement would be. */
            revision?: number;
            /** @description Providers to assume, in place of those with their slugs: as for a creation, without `secret`. */
            assumed_providers?: components["schemas"]["CreateProviderRequest"][];
        };
        AppValidationResponse: {
            /** @enum {boolean} */
            valid: true;
            app_id: string;
            /** @description As it would be stored; only with `include=config`. */
            config?: components["schemas"]["AppConfig"];
            /** @description What to know of this configuration, such as a proof that is looser than another, or one without its credentials; absent without any. */
            warnings?: string[];
        };
        ValidateAppDraftRequest: {
            /** @description A display name; surrounding blanks are removed. */
            name: string;
            /** @description Your own name for it in scripts and files, unique in the account. Null or absent: none. */
            handle?: string | null;
            config: components["schemas"]["AppConfig"];
            /**
             * @description `active` when absent.
             * @enum {string}
             */
            status?: "active" | "disabled";
            /** @description Providers to assume, in place of those with their slugs: as for a creation, without `secret`. */
            assumed_providers?: components["schemas"]["CreateProviderRequest"][];
        };
        AppDraftValidationResponse: {
            /** @enum {boolean} */
            valid: true;
            /** @description As it would be stored; only with `include=config`. */
            config?: components["schemas"]["AppConfig"];
            /** @description What to know of this configuration, such as a proof that is looser than another, or one without its credentials; absent without any. */
            warnings?: string[];
        };
        CheckedProviderResponse: {
            /** Format: uuid */
            id: string;
            slug: string;
            /** @enum {string} */
            status: "active" | "disabled";
        };
        CheckedEndpointResponse: {
            slug: string;
            /** @description Whether its first target can be called. */
            ready: boolean;
            /**
             * @description The error code for its clients otherwise.
             * @enum {string|null}
             */
            problem: "provider_not_configured" | "provider_disabled" | null;
        };
        AppCheckResponse: {
            appId: string;
            validation: components["schemas"]["AppValidationResponse"];
            /** @enum {string} */
            status: "active" | "disabled";
            /** @description Every provider its routing covers or an endpoint names. */
            providers: components["schemas"]["CheckedProviderResponse"][];
            endpoints: components["schemas"]["CheckedEndpointResponse"][];
            /** @description Active, with an active provider that its routing covers, or an endpoint that is ready. */
            ready: boolean;
            /** @description What this check does not test. */
            limitations: string[];
        };
        DeletedAppResponse: {
            /** @enum {boolean} */
            deleted: true;
            app_id: string;
            /** @description Stored users deleted with it. */
            removed_users: number;
            /** @enum {boolean} */
            usage_events_retained: true;
        };
        AppSnippetResponse: {
            /** @enum {string} */
            language: "shell" | "swift" | "kotlin";
            /** @description Without credentials: variables stand for them. */
            snippet: string;
            /** @description What to fill in, and what to know. */
            notes: string[];
        };
        ProviderUserResponse: {
            id: string;
            name: string;
        };
        UsedProviderResponse: {
            /** Format: uuid */
            id: string;
            slug: string;
            /** @description Calls of all applications, without refused ones. */
            requests: number;
            /** @description Those that ended with `provider_error`. */
            errors: number;
            /**
             * Format: date
             * @description UTC day of the last successful call; null without one in these days.
             */
            lastSuccessDay: string | null;
            /** @description Applications that can reach it, including disabled ones. */
            appCount: number;
            /** @description At most five of them, by name. */
            apps: components["schemas"]["ProviderUserResponse"][];
        };
        ProviderUseResponse: {
            /**
             * Format: date
             * @description First UTC day.
             */
            from: string;
            /**
             * Format: date
             * @description Last UTC day, today.
             */
            to: string;
            /** @description Oldest first, as in the list of providers. */
            providers: components["schemas"]["UsedProviderResponse"][];
        };
        OperationFailureResponse: {
            /** @description The error code of the change’s route, such as `slug_taken`. */
            code: string;
            /** @description The problem, and what to do. */
            message: string;
        };
        ChangeOperationResponse: {
            id: string;
            /** @enum {string} */
            kind: "claim" | "app.add" | "app.key.add" | "provider.add" | "provider.update" | "provider.rotate-key" | "provider-gateway.add" | "provider-gateway.rotate-key";
            /** @enum {string} */
            state: "pending" | "completed" | "expired";
            /**
             * @description True when a person declined; with `expired`.
             * @enum {boolean}
             */
            denied?: true;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it expires.
             */
            expiresAt: string;
            /** @description The result: `app`, `appId`, `provider`, `gateway`; of an issued key `api_key`, without the key itself. */
            result?: {
                [key: string]: unknown;
            };
            /** @description Why the last submission was refused. While the operation is pending, the person can try again. */
            failure?: components["schemas"]["OperationFailureResponse"];
            /**
             * Format: uri
             * @description The page that shows the issued key once to an owner or admin, while it can be revealed.
             */
            reveal_url?: string;
        };
        RevealedOperationResponse: {
            id: string;
            /** @enum {string} */
            kind: "claim" | "app.add" | "app.key.add" | "provider.add" | "provider.update" | "provider.rotate-key" | "provider-gateway.add" | "provider-gateway.rotate-key";
            /** @description As in the operation; `api_key.key` is the key itself, shown only once. */
            result: {
                [key: string]: unknown;
            };
        };
        OpenLoginRequest: {
            /** @description Created and stored by the terminal before it is sent; it identifies the operation and authenticates its polls. */
            token: string;
            /** @description The client’s own description. */
            client: {
                /** @description Such as the name of the machine. */
                label?: string;
                os?: string;
            };
            /** @description Where the terminal listens: exactly "http://127.0.0.1:<port>/callback". The page redirects the browser there with a one-time code. */
            loopbackRedirect?: string;
        };
        LoginResponse: {
            /** @description `op:` and the SHA-256 of the token, hexadecimal. */
            id: string;
            /** @enum {string} */
            kind: "login";
            /** @enum {string} */
            state: "pending" | "completed" | "denied" | "expired";
            /** @description The page that approves it; only while pending. */
            url: string | null;
            /**
             * @description To type at `/cli` instead of opening `url`; only while pending.
             * @example ABCD-EFGH
             */
            userCode: string | null;
            /** Format: date-time */
            expiresAt: string;
        };
        RedeemLoginRequest: {
            /** @description The `code` of the redirect to the listener. */
            redeemCode: string;
        };
        HandedOverCredential: {
            /**
             * @description A management key; returned only once.
             * @example gw_mgmt_…
             */
            token: string;
        };
        RedeemedLoginResponse: {
            credential: components["schemas"]["HandedOverCredential"];
            account: components["schemas"]["OrganizationResource"];
        };
        BootstrapRequest: {
            /** @description Created and stored by the terminal before it is sent; it identifies the operation and authenticates its polls. */
            token: string;
        };
        DeploymentResource: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            mode: "self_hosted";
            /** Format: uri */
            apiUrl: string;
            /** Format: uri */
            consoleOrigin: string;
        };
        OperationResponse: {
            id: string;
            /** @enum {string} */
            kind: "bootstrap" | "login" | "claim" | "app.add" | "app.key.add" | "provider.add" | "provider.update" | "provider.rotate-key" | "provider-gateway.add" | "provider-gateway.rotate-key";
            /** @enum {string} */
            state: "pending" | "completed" | "expired";
            /**
             * @description True when a person declined; with `expired`.
             * @enum {boolean}
             */
            denied?: true;
            /**
             * Format: date-time
             * @description When the browser step expires.
             */
            expiresAt: string;
            /** @description The page of the browser step, while it is pending. */
            url?: string;
            deployment: components["schemas"]["DeploymentResource"];
            /** @description The result: `credential.token` (the key, returned once), `accountId`, `app`, `api_key`, `provider`, `gateway`. */
            result?: {
                [key: string]: unknown;
            };
            /** @description Why the last submission was refused. While the operation is pending, the person can try again. */
            failure?: components["schemas"]["OperationFailureResponse"];
            account?: components["schemas"]["OrganizationResource"];
        };
        CreateOperationRequest: {
            /**
             * @description The requested change.
             * @enum {string}
             */
            kind: "claim" | "app.add" | "app.key.add" | "provider.add" | "provider.update" | "provider.rotate-key" | "provider-gateway.add" | "provider-gateway.rotate-key";
            /** @description The body of the management route, without the secret where a person types it, plus what the route has in its path: `app`, `provider` or `gateway`. */
            payload: {
                [key: string]: unknown;
            };
            /** @description Created and stored by the terminal before it is sent; it identifies the operation and authenticates its polls. */
            token: string;
            /** @description Whether a person completes it in a browser; for `provider.add` and `provider-gateway.add`. */
            browser?: boolean;
        };
        UserCodeRequest: {
            /** @description As the terminal shows it; case, blanks and dashes do not matter. */
            userCode: string;
        };
        LookupResponse: {
            found: boolean;
            id?: string;
            /** @enum {string} */
            kind?: "bootstrap" | "login" | "claim" | "app.add" | "app.key.add" | "provider.add" | "provider.update" | "provider.rotate-key" | "provider-gateway.add" | "provider-gateway.rotate-key";
            /** Format: date-time */
            expiresAt?: string;
        };
        SubmissionRequest: {
            /** @description The text after `#` in the link; for a login also the user code. */
            submissionToken: string;
        };
        HandoffViewer: {
            name: string | null;
            email: string | null;
        };
        HandoffClient: {
            /** @description The terminal’s own label. */
            label: string;
            os: string | null;
            /** @description The address of the request; of IPv6, its network. */
            ip: string | null;
            /** Format: date-time */
            requestedAt: string;
        };
        HandoffAccount: {
            id: string;
            name: string;
            /** @enum {string} */
            role: "owner" | "admin" | "member";
        };
        HandoffDetailsResponse: {
            /** @enum {string} */
            kind: "bootstrap" | "login" | "claim" | "app.add" | "app.key.add" | "provider.add" | "provider.update" | "provider.rotate-key" | "provider-gateway.add" | "provider-gateway.rotate-key";
            /** @description The requested change, without secrets; with `snapshot` or `gatewaySnapshot`, the resource it changes. */
            payload: {
                [key: string]: unknown;
            };
            /** @description Its account; null for a login, whose account the person chooses. */
            account: components["schemas"]["OrganizationResource"] | null;
            /** @description Who is signed in. */
            viewer: components["schemas"]["HandoffViewer"] | null;
            /**
             * @description What the viewer must do first.
             * @enum {string|null}
             */
            blockedBy: "registration_required" | "sign_out_required" | "no_eligible_organization" | null;
            googleEnabled: boolean;
            /** Format: date-time */
            expiresAt: string;
            /** @description To compare with the one in the terminal. */
            userCode: string | null;
            client: components["schemas"]["HandoffClient"] | null;
            /** @description Whether the browser is redirected to a listener of the terminal. */
            hasLoopbackRedirect: boolean;
            /** @description The accounts that a login can choose. */
            organizations?: components["schemas"]["HandoffAccount"][];
        };
        SubmitHandoffRequest: {
            /** @description The text after `#` in the link; for a login also the user code. */
            submissionToken: string;
            /** @description `true`; to decline, use `deny`. */
            approve: boolean;
            /** @description The provider’s key, if the operation needs it. */
            secret?: string;
            /** @description The account of a login; required with several. */
            organizationId?: string;
        };
        SubmittedHandoffResponse: {
            /** @enum {string} */
            state: "completed";
            /** @description For the person. */
            message: string;
            /**
             * @description Where the person continues.
             * @enum {string}
             */
            continueTo: "cli" | "console";
            /** @description The terminal’s listener: redirect the browser to it. */
            redirectUrl?: string;
        };
        DeniedHandoffResponse: {
            /** @enum {string} */
            state: "denied";
            /** @description For the person. */
            message: string;
        };
        RegisterForHandoffRequest: {
            /** @description The text after `#` in the link; for a login also the user code. */
            submissionToken: string;
            /** @description Compared case-insensitively; no mail is sent to it. */
            email: string;
            password: string;
            name: string;
        };
        OfferedProvider: {
            /** @enum {string} */
            type: "openai" | "anthropic" | "xai" | "gemini" | "perplexity" | "deepseek" | "groq" | "mistral" | "together" | "fireworks" | "cerebras" | "moonshot" | "huggingface" | "baseten" | "bytedance" | "openrouter";
            name: string;
            /** Format: uri */
            baseUrl: string;
            /** @description A path of an inference call. */
            defaultPath?: string;
            apiStyles: ("responses" | "chat_completions" | "anthropic_messages" | "gemini_native" | "gemini_interactions" | "audio_transcription" | "other")[];
            endpointStyles: ("responses" | "transcription")[];
        };
        OfferedGateway: {
            /** @enum {string} */
            type: "cf_aig" | "vercel";
            name: string;
        };
        CliFeatures: {
            /** @description Whether a terminal can log in through a browser. */
            browserLogin: boolean;
        };
        CliCapabilitiesResponse: {
            /** @enum {integer} */
            protocolVersion: 1;
            serverVersion: string;
            deployment: components["schemas"]["DeploymentResource"];
            /** Format: uri */
            consoleOrigin: string;
            providers: components["schemas"]["OfferedProvider"][];
            providerGateways: components["schemas"]["OfferedGateway"][];
            features: components["schemas"]["CliFeatures"];
        };
        BillingAccess: {
            /** @enum {string} */
            state: "self_hosted";
        };
        AccountBilling: {
            access: components["schemas"]["BillingAccess"];
        };
        CliAccountResponse: {
            deployment: components["schemas"]["DeploymentResource"];
            account: components["schemas"]["OrganizationResource"];
            billing: components["schemas"]["AccountBilling"];
            /** @description Null: nothing is metered. */
            usage: {
                [key: string]: unknown;
            } | null;
        };
        AccountAppUsageResponse: {
            /** @description Every recorded request, refused ones included. */
            requests: number;
            /** @description Prompt tokens neither read from nor written to a cache. */
            input_tokens: number;
            /** @description Prompt tokens read from a cache. */
            cached_input_tokens: number;
            /** @description Prompt tokens written to a cache. */
            cache_write_tokens: number;
            /** @description Generated tokens, reasoning included. */
            output_tokens: number;
            /** @description US dollars. */
            cost_usd: number;
            /** @description Estimate in US dollars in addition to `cost_usd` for calls of unknown usage; counts against budgets. */
            estimated_cost_usd: number;
            /** @description Requests that failed at the provider. */
            errors: number;
            /** @description Refused requests: by a limit, a plan, a block or the configuration, or because they were not valid. */
            blocked: number;
            appId: string;
            /** @description Whether the application is deleted; its usage stays. */
            deleted: boolean;
            /**
             * Format: date
             * @description UTC day of the oldest stored request.
             */
            firstRecord: string;
        };
        UsageCoverage: {
            /** @enum {string} */
            scope: "retained_account_usage";
            /** Format: date */
            firstRecord: string | null;
        };
        CliUsageResponse: {
            accountId: string;
            /** @example 2026-01 */
            month: string;
            totals: components["schemas"]["UsageTotalsResponse"];
            /** @description Every application with usage, deleted ones included. */
            apps: components["schemas"]["AccountAppUsageResponse"][];
            coverage: components["schemas"]["UsageCoverage"];
        };
        ConsentRequest: {
            /** @description The text after `#` in the address of the consent page. */
            submissionToken: string;
        };
        ConsentClient: {
            id: string;
            /** @description Its own claim: untrusted text. */
            name: string;
            /** @description The host that serves its metadata; null if registered. */
            domain: string | null;
            /** @enum {string} */
            source: "cimd" | "registered";
        };
        ConsentViewer: {
            name: string | null;
            email: string;
        };
        ConsentAccount: {
            id: string;
            name: string;
            /** @enum {string} */
            role: "owner" | "admin" | "member";
        };
        ConsentDetailsResponse: {
            id: string;
            /**
             * @description `retired`: the connection was revoked, or its code was never used.
             * @enum {string}
             */
            state: "pending" | "completed" | "denied" | "expired" | "retired";
            client: components["schemas"]["ConsentClient"];
            /** @description Target of the redirect after the decision: a host, or a private scheme. */
            redirectHost: string;
            /** @enum {string} */
            requestedGrant: "read" | "manage";
            /** Format: date-time */
            expiresAt: string;
            viewer: components["schemas"]["ConsentViewer"] | null;
            /** @description The accounts of the viewer, one of which the client can get. */
            accounts: components["schemas"]["ConsentAccount"][];
            /** @enum {string|null} */
            blockedBy: "registration_required" | "no_eligible_organization" | null;
            /** @description Whether the client can get access without a person: the deployment is empty. */
            guestAvailable: boolean;
            /**
             * Format: date-time
             * @description Null: a guest account does not expire.
             */
            guestExpiresAt: string | null;
            googleEnabled: boolean;
            registrationOpen: boolean;
        };
        AllowConsentRequest: {
            /** @description The text after `#` in the address of the consent page. */
            submissionToken: string;
            /** @description Account for the client, one of `accounts`. */
            organizationId: string;
            /**
             * @description At most `requestedGrant`.
             * @enum {string}
             */
            grant: "read" | "manage";
        };
        ConsentRedirectResponse: {
            /** @description Where to send the browser. Idempotent. */
            redirect: string;
        };
        PlayCredential: {
            /**
             * @description `service_account` is used by `decode: "vendor"`, `response_keys` by `decode: "local"`.
             * @enum {string}
             */
            kind: "service_account" | "response_keys";
            /** @description The e-mail address of the service account, or the end of the verification key. No secret is returned. */
            hint: string;
            /** Format: date-time */
            updated_at: string;
        };
        PlayCredentialsResponse: {
            app_id: string;
            credentials: components["schemas"]["PlayCredential"][];
        };
        PutPlayCredentialsRequest: {
            /** @description The key file of a service account that may use the Play Integrity API, as an object or its JSON text; its `token_uri` is ignored. For `decode: "vendor"`. */
            service_account?: {
                [key: string]: unknown;
            } | string;
            /** @description base64 of 32 bytes, from Play Console. With `verification_key`, for `decode: "local"`. */
            decryption_key?: string;
            /** @description base64 of an EC key, from Play Console. */
            verification_key?: string;
        };
        DeletedPlayCredentialsResponse: {
            app_id: string;
            /** @enum {boolean} */
            deleted: true;
        };
        AuthEventResponse: {
            /** @description Increases with time; the cursor of the list. */
            id: number;
            /** @description Null if no user was authenticated. */
            user_id: string | null;
            /** @enum {string} */
            event: "register" | "token_exchange";
            /** @enum {string|null} */
            auth_method: "attest" | "api_key" | "key_attestation" | "play_integrity" | "unproven" | null;
            /** @description `ok`; `would_reject` where the proof failed and its mode gave a token; or the error code the client got. */
            outcome: string;
            /** @description The granular cause; clients never see it. */
            reason: string | null;
            app_version: string | null;
            latency_ms: number | null;
            /** @description How long a required claim took to arrive; only on the success that ended the wait. */
            claim_delay_ms: number | null;
            /** @description The proof that a device offered to an application of several proofs. */
            proof?: string;
            /** @description What the proof said, as far as rules read it: security level, versions. Nothing identifies a device. */
            facts?: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
        };
        AuthEventsResponse: {
            app_id: string;
            limit: number;
            /** @description Null: there are no older events. */
            next_before_id: number | null;
            /** @description Newest first. */
            events: components["schemas"]["AuthEventResponse"][];
        };
        AuthEventDayResponse: {
            /**
             * Format: date
             * @description UTC day.
             */
            date: string;
            /** @enum {string} */
            event: "register" | "token_exchange";
            /** @description `ok`, `would_reject`, or the error code clients got. */
            outcome: string;
            reason: string | null;
            count: number;
        };
        UsageFailuresResponse: {
            /**
             * Format: date
             * @description UTC day.
             */
            date: string;
            /** @enum {string} */
            status: "ok" | "provider_error" | "blocked_app_rate" | "blocked_app_budget" | "blocked_billing" | "blocked_user" | "blocked_policy" | "blocked_invalid";
            count: number;
        };
        TokenExchangesResponse: {
            total: number;
            ok: number;
            /** @description Null: there were none. */
            success_rate: number | null;
        };
        ClaimDelayResponse: {
            /** @description Waits that ended in these days. */
            count: number;
            avg_ms: number | null;
            /** @description Nearest rank. */
            p50_ms: number | null;
            /** @description Nearest rank. */
            p95_ms: number | null;
        };
        ProofAttemptsResponse: {
            proof: string;
            /** @enum {string} */
            event: "register" | "token_exchange";
            /** @description Proven. */
            ok: number;
            /** @description Failed, and admitted by the mode of the proof. */
            would_reject: number;
            refused: number;
        };
        AuthEventSummaryResponse: {
            app_id: string;
            days: number;
            /**
             * Format: date
             * @description First UTC day.
             */
            from: string;
            /**
             * Format: date
             * @description Last UTC day, today.
             */
            to: string;
            /** @description By date, event, outcome and reason. */
            daily: components["schemas"]["AuthEventDayResponse"][];
            /** @description Requests that failed or were refused, by date and status. */
            usage_failures: components["schemas"]["UsageFailuresResponse"][];
            token_exchange: components["schemas"]["TokenExchangesResponse"];
            /** @description How long required claims took to arrive. */
            claim_delay: components["schemas"]["ClaimDelayResponse"];
            /** @description Active users who still wait for a required claim. */
            pending_users: number;
            /** @description By proof and kind of attempt; absent where no device offered any. */
            proofs?: components["schemas"]["ProofAttemptsResponse"][];
        };
        CurrentUserResponse: {
            user_id: string;
            limits: components["schemas"]["UserLimitsResponse"];
        };
        EnforcementPreviewRequest: {
            /** @description As in a configuration, of type `device_proofs`; absent: the stored one with every proof enforced. */
            authentication?: components["schemas"]["AppDeviceProofsAuthentication"];
            /** @description UTC days, today included; 30 when absent. */
            days?: number;
        };
        LostAttemptsResponse: {
            /** @description Null: a signature of an unknown key. */
            proof: string | null;
            /** @description Of the refusal, as in authentication events. */
            reason: string;
            /**
             * Format: date
             * @description UTC day.
             */
            day: string;
            /** @description As claimed by `X-App-Version`. */
            app_version: string | null;
            attempts: number;
        };
        EnforcementPreviewResponse: {
            /** @description Registrations and exchanges that were admitted. */
            attempts: number;
            /** @description Those that would be refused. */
            would_reject: number;
            /** @description Number of different known users of these attempts; absent if none is known. */
            users?: number;
            /** @description Most attempts first; at most 1000. */
            by: components["schemas"]["LostAttemptsResponse"][];
        };
        RegisterUserDeviceRequest: {
            /** @description The user’s token of the application’s identity provider. */
            issuer_token: string;
            /** @description Id of the device key: base64 of the hash of its public key. */
            key_id: string;
            /** @description base64 of the attestation object of the device. */
            attestation: string;
            /** @description As issued; consumed by this call. */
            challenge: string;
        } & {
            [key: string]: unknown;
        };
        RegisterInstallRequest: {
            /** @description Id of the device key: base64 of the hash of its public key. */
            key_id: string;
            /** @description base64 of the attestation object of the device. */
            attestation: string;
            /** @description As issued; consumed by this call. */
            challenge: string;
        } & {
            [key: string]: unknown;
        };
        RegisterAndroidUserDeviceRequest: {
            /**
             * @description The proof of the registration.
             * @enum {string}
             */
            proof: "key_attestation";
            /** @description The user’s token of the application’s identity provider. */
            issuer_token: string;
            /** @description Id of the device key: base64 of the hash of its public key. */
            key_id: string;
            /** @description The certificate chain of the key: base64 of DER each, leaf first, root last. */
            certificate_chain: string[];
            /** @description As issued; consumed by this call. */
            challenge: string;
        } & {
            [key: string]: unknown;
        };
        RegisterAndroidInstallRequest: {
            /**
             * @description The proof of the registration.
             * @enum {string}
             */
            proof: "key_attestation";
            /** @description Id of the device key: base64 of the hash of its public key. */
            key_id: string;
            /** @description The certificate chain of the key: base64 of DER each, leaf first, root last. */
            certificate_chain: string[];
            /** @description As issued; consumed by this call. */
            challenge: string;
        } & {
            [key: string]: unknown;
        };
        RegisterPlayUserDeviceRequest: {
            /**
             * @description The proof of the registration.
             * @enum {string}
             */
            proof: "play_integrity";
            /** @description The user’s token of the application’s identity provider. */
            issuer_token: string;
            /** @description Id of the device key: base64 of the hash of its public key. */
            key_id: string;
            /** @description base64 of the public key that will sign the exchanges: P-256, SPKI in DER. */
            public_key: string;
            /** @description The token of Play Integrity, as the system returned it. */
            integrity_token: string;
            /** @description As issued; consumed by this call. */
            challenge: string;
        } & {
            [key: string]: unknown;
        };
        RegisterPlayInstallRequest: {
            /**
             * @description The proof of the registration.
             * @enum {string}
             */
            proof: "play_integrity";
            /** @description Id of the device key: base64 of the hash of its public key. */
            key_id: string;
            /** @description base64 of the public key that will sign the exchanges: P-256, SPKI in DER. */
            public_key: string;
            /** @description The token of Play Integrity, as the system returned it. */
            integrity_token: string;
            /** @description As issued; consumed by this call. */
            challenge: string;
        } & {
            [key: string]: unknown;
        };
        ExchangeUserDeviceRequest: {
            /** @description The user’s token of the application’s identity provider. */
            issuer_token: string;
            /** @description Id of the device key: base64 of the hash of its public key. */
            key_id: string;
            /** @description base64 of the assertion of the device. */
            assertion: string;
            /** @description As issued; consumed by this call. */
            challenge: string;
        } & {
            [key: string]: unknown;
        };
        ExchangeInstallRequest: {
            /** @description Id of the device key: base64 of the hash of its public key. */
            key_id: string;
            /** @description base64 of the assertion of the device. */
            assertion: string;
            /** @description As issued; consumed by this call. */
            challenge: string;
        } & {
            [key: string]: unknown;
        };
        ExchangeSignedUserDeviceRequest: {
            /**
             * @description The proof that the key was registered with; may be absent where `app_attest` is among the proofs.
             * @enum {string}
             */
            proof?: "key_attestation" | "play_integrity";
            /** @description The user’s token of the application’s identity provider. */
            issuer_token: string;
            /** @description Id of the device key: base64 of the hash of its public key. */
            key_id: string;
            /** @description base64 of the signature of the registered key: SHA-256 with ECDSA, DER. */
            signature: string;
            /** @description As issued; consumed by this call. */
            challenge: string;
        } & {
            [key: string]: unknown;
        };
        ExchangeSignedInstallRequest: {
            /**
             * @description The proof that the key was registered with; may be absent where `app_attest` is among the proofs.
             * @enum {string}
             */
            proof?: "key_attestation" | "play_integrity";
            /** @description Id of the device key: base64 of the hash of its public key. */
            key_id: string;
            /** @description base64 of the signature of the registered key: SHA-256 with ECDSA, DER. */
            signature: string;
            /** @description As issued; consumed by this call. */
            challenge: string;
        } & {
            [key: string]: unknown;
        };
        ExchangeApiKeyRequest: {
            /** @description A key of the application. */
            api_key: string;
            /** @description The user’s token of the application’s identity provider. */
            issuer_token: string;
        };
        ChallengeResponse: {
            /** @description base64url of 32 random bytes; valid once, for this application. */
            challenge: string;
            /**
             * @description Seconds.
             * @example 300
             */
            expires_in: number;
        };
        RegistrationResponse: {
            /** @description The user that the key now belongs to; with `proof`, an identity for this registration only. */
            user_id: string;
            /**
             * @description Present if the proof failed but its mode admits the device; no key is registered.
             * @enum {string}
             */
            proof?: "none";
        };
        GatewayTokenResponse: {
            /** @description The credential of calls to providers; opaque. */
            access_token: string;
            /**
             * @description Seconds; 1800 for key attestation.
             * @example 3600
             */
            expires_in: number;
            /**
             * @description Present if the proof failed but its mode admits the device; no key is registered.
             * @enum {string}
             */
            proof?: "none";
        };
        FrameworkChallengeRequest: {
            /** @description Id of the application. */
            client_id: string;
            /** @description Id of the device key, as the system returned it. */
            key_id: string;
        } & {
            [key: string]: unknown;
        };
        FrameworkChallengeResponse: {
            /** @description base64url of 32 random bytes. */
            challenge: string;
            /**
             * @description Remaining seconds, at least 1.
             * @example 300
             */
            expires_in: number;
        };
        FrameworkRegisterRequest: {
            /** @description Id of the application. */
            client_id: string;
            /** @description Id of the device key, as the system returned it. */
            key_id: string;
            /** @description base64 of the attestation object of the device. */
            attestation_object: string;
        } & {
            [key: string]: unknown;
        };
        FrameworkTokenResponse: {
            /** @description The credential of calls to providers; opaque. */
            access_token: string;
            /**
             * @description Seconds.
             * @example 3600
             */
            expires_in: number;
            /** @description A challenge for the next token, instead of asking for one. */
            next_challenge: string;
            /**
             * @description Its remaining seconds.
             * @example 300
             */
            next_challenge_expires_in: number;
        };
        FrameworkTokenRequest: {
            /** @enum {string} */
            grant_type: "urn:anthropic:params:oauth:grant-type:app-attest";
            /** @description Id of the application. */
            client_id: string;
            /** @description Id of the device key, as the system returned it. */
            key_id: string;
            /** @description base64 of the assertion of the device. */
            assertion: string;
        } & {
            [key: string]: unknown;
        };
        ModelResponse: {
            /** @description As the client sends it. */
            id: string;
            /** @enum {string} */
            object: "model";
            /** @description Developer of the model; else the type of the provider. */
            owned_by: string;
            /** @description Slug of the provider instance. */
            provider: string;
        };
        ModelsResponse: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["ModelResponse"][];
        };
        HealthResponse: {
            /** @example true */
            ok: boolean;
            /** @example gateway */
            service: string;
            /** @enum {string} */
            vault: "ok" | "misconfigured";
        };
        ReadinessResponse: {
            /** @description True when this instance can take calls. */
            ready: boolean;
            /**
             * @description Why it is not ready; null when it is. Stopping: it accepts calls for another `STOP_DELAY_SECONDS`. Otherwise the first failing part.
             * @enum {string|null}
             */
            reason: "stopping" | "database" | "vault" | "journal" | "redis" | null;
            /** @enum {string} */
            database: "ok" | "unreachable";
            /** @enum {string} */
            vault: "ok" | "misconfigured";
            /** @enum {string} */
            journal: "ok" | "full" | "failed";
            /**
             * @description How configuration changes are received.
             * @enum {string}
             */
            configChanges: "connected" | "polling";
            /**
             * @description Lost: each instance counts address limits for itself. Other: `REDIS_URL` is another Redis than that of the running instances.
             * @enum {string}
             */
            redis: "ok" | "lost" | "unused" | "other";
            /** @description Instances that use this database, this one included, as this one sees it. */
            instances: number;
            /**
             * @description Differs: this machine's clock is more than 2 s off the time that all instances share, which everything uses.
             * @enum {string}
             */
            clock: "ok" | "differs";
            /**
             * @description Degraded: request limits are counted without Redis, each instance within its share.
             * @enum {string}
             */
            limits: "ok" | "degraded";
        };
        PartHistoryResponse: {
            /**
             * @description A member of `readiness`.
             * @enum {string}
             */
            part: "database" | "redis" | "vault" | "journal" | "configChanges" | "clock" | "limits";
            /** @description For each slot, the oldest first, the share of the samples of all instances in which the part did not work; null where there is no sample. */
            failing: (number | null)[];
        };
        HealthHistoryResponse: {
            /**
             * Format: date-time
             * @description Start of the first slot.
             */
            since: string;
            /** @description Length of a slot in seconds. */
            slotSeconds: number;
            parts: components["schemas"]["PartHistoryResponse"][];
        };
        DeploymentInstanceResponse: {
            id: string;
            /** @description Whether it answered this request. */
            current: boolean;
            /** @description Name of its machine. */
            host: string;
            /** @description Its process. */
            pid: number;
            version: string;
            /** Format: date-time */
            startedAt: string;
            /** @description Whether it uses Redis, and reached it at its last heartbeat. */
            redisAnswers: boolean;
            /** @description How far the clock of its machine is ahead of the shared time, in milliseconds; negative: behind. */
            clockAheadMs: number;
        };
        MaintenanceRunResponse: {
            /** Format: date-time */
            startedAt: string;
            /** Format: date-time */
            endedAt: string;
            /**
             * @description Failed: at least one step failed; see the log. Stopped: the next run continues.
             * @enum {string}
             */
            outcome: "done" | "failed" | "stopped";
        };
        DeploymentPricesResponse: {
            /**
             * @description File: `PRICES_FILE` replaces prices of the catalog or adds to them.
             * @enum {string}
             */
            source: "built_in" | "file";
            /**
             * Format: date-time
             * @description When the version of the file in force was modified; null without a file.
             */
            date: string | null;
        };
        DeploymentSettingResponse: {
            name: string;
            /** @description Its value; `set` instead of a secret; null where it is not set and has no default. */
            value: string | null;
        };
        DeploymentResponse: {
            version: string;
            /** @description Version of Node. */
            node: string;
            /** @description As `GET /v1/readyz` answers it here. */
            readiness: components["schemas"]["ReadinessResponse"];
            /** @description The last day, the current slot included. */
            history: components["schemas"]["HealthHistoryResponse"];
            instances: components["schemas"]["DeploymentInstanceResponse"][];
            /** @enum {string} */
            database: "embedded" | "external";
            /** @description Events on disk that Postgres has not stored yet. */
            pendingEvents: number;
            /** @description The last nightly job; null before the first one. */
            maintenance: components["schemas"]["MaintenanceRunResponse"] | null;
            /** @description Where the prices of this instance come from. */
            prices: components["schemas"]["DeploymentPricesResponse"];
            /** @description Important settings, without secrets. */
            settings: components["schemas"]["DeploymentSettingResponse"][];
        };
        EventActor: {
            id: string;
            /** @enum {string} */
            kind: "human" | "service";
            /**
             * @description As the client identified itself.
             * @enum {string}
             */
            source: "web" | "api" | "cli" | "mcp" | "system";
        };
        EventTarget: {
            /** @example app_key */
            type: string;
            /**
             * @description It may be deleted.
             * @example key_0a1b2c3d4e5f6g7h8i9j
             */
            id: string;
        };
        AuditedEventData: {
            /** @example account-4f0c2a */
            account: string;
            /** @description Null: not about an application. */
            app: string | null;
            actor: components["schemas"]["EventActor"];
            target: components["schemas"]["EventTarget"];
            /** @description Details by type; never a secret. */
            details: {
                [key: string]: string | number | boolean | null;
            } | null;
            /** @description Old and new values of changed configuration, at most 200; those with values first. */
            changes: components["schemas"]["AuditedChangeResponse"][] | null;
        };
        BudgetEventData: {
            /** @example account-4f0c2a */
            account: string;
            app: string;
            /** @enum {string} */
            scope: "user" | "app" | "group" | "run";
            /** @description The name of the kind of group; null for other scopes. */
            group: string | null;
            /**
             * @description Of the user, application, group or run.
             * @example customer-4711
             */
            id: string;
            /** @enum {string} */
            window: "day" | "week" | "month" | "total" | "run";
            /**
             * Format: date-time
             * @description Of a run, when it began; null for `total`.
             */
            period_start: string | null;
            /** @description Part of the budget; 1 for `budget.exhausted`. */
            threshold: number;
            /** @description US dollars: the budget. */
            budget_usd: number;
            /** @description US dollars: the amount spent in the window, without estimates. */
            spent_usd: number;
            /** @description US dollars: estimates for calls of unknown cost. */
            estimated_usd: number;
        };
        DeviceEventData: {
            /** @example account-4f0c2a */
            account: string;
            app: string;
            /**
             * @description Of the user.
             * @example customer-4711
             */
            user: string;
            /**
             * @description Of the device key.
             * @example wG2Yh0pTz5m1sQe7
             */
            device: string;
            /**
             * @description `device_limit`: the user registered more than 20 devices; this one was used least recently. `certificate_revoked`: the vendor of Android revoked or suspended a certificate of the key.
             * @enum {string}
             */
            reason: "device_limit" | "certificate_revoked";
        };
        LimitEventData: {
            /** @example account-4f0c2a */
            account: string;
            app: string;
            /** @enum {string} */
            scope: "user" | "group" | "app";
            /**
             * @description Of the user or application; of a group `<name>:<value>`.
             * @example customer-4711
             */
            id: string;
            /** @enum {string} */
            limit: "requests" | "tokens";
            /** @enum {string} */
            window: "minute" | "day";
            /**
             * Format: date-time
             * @description Start of the UTC minute or day.
             */
            period_start: string;
        };
        EventProvider: {
            id: string;
            slug: string;
            /** @example OpenAI */
            name: string;
        };
        ProviderEventData: {
            /** @example account-4f0c2a */
            account: string;
            provider: components["schemas"]["EventProvider"];
            /**
             * @description Why it is or was failing. `key_refused`: it refused the stored key. `errors`: calls failed.
             * @enum {string}
             */
            reason: "key_refused" | "errors";
            /** @description The calls that determined it. */
            calls: number;
            /** @description The failed ones. */
            errors: number;
        };
        RisingEventData: {
            /** @example account-4f0c2a */
            account: string;
            app: string;
            /**
             * Format: date-time
             * @description Start of the hour.
             */
            period_start: string;
            /** @description In this hour so far. */
            count: number;
            /** @description Mean of the same hour of the last seven days. */
            usual: number;
        };
        TestEventData: {
            /** @example account-4f0c2a */
            account: string;
            /** @example wh_0a1b2c3d4e5f6g7h8i9j */
            webhook: string;
        };
        ErrorResponse: {
            error: {
                /** @enum {string} */
                code: "invalid_request" | "app_revision_required" | "pricing_not_configured" | "provider_not_supported_by_gateway" | "provider_key_invalid" | "unsupported_snippet" | "auth_required" | "billing_payment_required" | "forbidden" | "session_required" | "not_a_member" | "account_exists" | "no_eligible_organization" | "registration_disabled" | "account_expired" | "grant_insufficient" | "app_disabled" | "attest_failed" | "app_version_too_old" | "issuer_token_rejected" | "issuer_claims_missing" | "auth_method_not_supported" | "path_not_allowed" | "model_not_allowed" | "api_style_not_supported" | "max_output_tokens_exceeded" | "app_not_found" | "endpoint_not_found" | "stream_not_found" | "not_found" | "operation_not_found" | "provider_not_found" | "app_revision_conflict" | "handle_taken" | "slug_taken" | "gateway_in_use" | "provider_gateway_managed" | "billing_plan_limit_reached" | "conflict" | "idempotency_stream_ended" | "operation_pending" | "operation_denied" | "already_completed" | "operation_mismatch" | "already_revealed" | "last_owner" | "operation_expired" | "stream_expired" | "resource_receipt_expired" | "resource_key_unavailable" | "payload_too_large" | "idempotency_mismatch" | "app_rate_limited" | "app_budget_exhausted" | "billing_request_quota_exceeded" | "rate_limited" | "internal_error" | "provider_not_configured" | "provider_disabled" | "provider_unavailable" | "provider_error" | "issuer_verification_unavailable" | "billing_unavailable" | "service_unavailable";
                message: string;
                data?: {
                    [key: string]: string | number | boolean;
                };
            };
        };
        AuditedEvent: {
            type: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            data: components["schemas"]["AuditedEventData"];
        };
        BudgetEvent: {
            type: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            data: components["schemas"]["BudgetEventData"];
        };
        DeviceEvent: {
            type: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            data: components["schemas"]["DeviceEventData"];
        };
        LimitEvent: {
            type: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            data: components["schemas"]["LimitEventData"];
        };
        ProviderEvent: {
            type: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            data: components["schemas"]["ProviderEventData"];
        };
        RisingEvent: {
            type: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            data: components["schemas"]["RisingEventData"];
        };
        TestEvent: {
            type: string;
            /**
             * Format: date-time
             * @description When it happened.
             */
            timestamp: string;
            data: components["schemas"]["TestEventData"];
        };
    };
    responses: never;
    parameters: {
        /** @description Of the event; the same at each attempt. */
        WebhookId: string;
        /** @description Unix time of the attempt, in seconds. */
        WebhookTimestamp: number;
        /** @description `v1,` and a signature; several are separated by spaces. */
        WebhookSignature: string;
    };
    requestBodies: never;
    headers: {
        /** @description Seconds after which the call may succeed. */
        RetryAfter: number;
        /** @description Seconds after which the call may succeed, if known. */
        OptionalRetryAfter: number;
        /** @description Seconds after which the call may succeed. If the provider answered, its own value, if any. */
        RelayedRetryAfter: string;
        /** @description Milliseconds spent on `auth`, `limiter` and until the provider’s first byte (`provider_ttfb`): `auth;dur=0.1, limiter;dur=0.2, provider_ttfb;dur=310.5`. */
        ServerTiming: string;
        /** @description The `cursor` of the next page; absent from the last one. */
        NextCursor: string;
        /** @description The provider’s, if it is a public address of another host. */
        RelayedLocation: string;
        /** @description Names the answer on `GET /v1/apps/{app}/streams/{stream}`; on every 2xx of an application with `streams`. */
        Stream: string;
        /** @description Where the bytes begin in the answer. */
        StreamOffset: number;
        /** @description At the time of the head: `live`, `complete`, `failed` (broke off or reports an error), `stopped` or `lost` (not all of it is kept). */
        StreamState: string;
        /** @description Bytes of an answer that has ended. */
        StreamLength: number;
        /** @description The provider’s id of the call. */
        RelayedRequestId: string;
        /** @description `Bearer` and its `realm`; with `error="invalid_token"` if an invalid credential was sent. */
        Challenge: string;
        /** @description `Bearer` with `error="insufficient_scope"`, where the access token of a connection was sent. */
        ScopeChallenge: string;
        /** @description The codings that the route takes, where the request had another `Content-Encoding`. */
        AcceptEncoding: string;
        /** @description A path of the console. */
        ConsolePlace: string;
        /** @description Starts or ends the session of the browser. */
        SessionCookie: string;
        /** @description Renews the browser’s session once a day, or clears the cookie of a finished third-party sign-in. */
        RenewedSessionCookie: string;
        /** @description The organization that the session acts in. */
        OrganizationCookie: string;
        /** @description Binds the sign-in to this browser; sent only to `/v1/auth/sign-in/passkey`. */
        PasskeyCookie: string;
        /** @description Binds the sign-in to this browser; sent only to `/v1/auth/callback/google`. */
        SignInStateCookie: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listAuditEvents: {
        parameters: {
            query?: {
                /** @description Maximum number of events to return; 50 when absent. */
                limit?: number;
                /** @description Only events of this action, such as `app.created`. */
                action?: string;
                /** @description Only actions of this user. */
                actor_id?: string;
                /** @description Only events of this application and its resources. */
                app_id?: string;
                /** @description First UTC day; 29 days before `to` when only that is given. Without both: every day. */
                from?: string;
                /** @description Last UTC day, inclusive; today when only `from` is given. */
                to?: string;
                /** @description Only events with a smaller id. */
                before_id?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "limit": 1,
                     *       "next_before_id": null,
                     *       "events": [
                     *         {
                     *           "id": 1,
                     *           "action": "app.created",
                     *           "actor": {
                     *             "type": "user",
                     *             "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *             "kind": "human",
                     *             "credential_id": null,
                     *             "action_source": "web",
                     *             "name": "Ada Lovelace"
                     *           },
                     *           "credential_type": "session",
                     *           "target": {
                     *             "type": "app",
                     *             "id": "travel-journal-k3x9qa"
                     *           },
                     *           "app_id": "travel-journal-k3x9qa",
                     *           "details": null,
                     *           "changes": [
                     *             {
                     *               "path": "limits.per_user.requests.per_day",
                     *               "from": 300,
                     *               "to": 500,
                     *               "redacted": false
                     *             }
                     *           ],
                     *           "created_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AuditEventsResponse"];
                };
            };
        };
    };
    listAuditFacets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "actions": [
                     *         "app.replaced"
                     *       ],
                     *       "actors": [
                     *         {
                     *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *           "kind": "human",
                     *           "name": "Ada Lovelace"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AuditFacetsResponse"];
                };
            };
        };
    };
    listManagementKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "keys": [
                     *         {
                     *           "id": "mkey_0a1b2c3d4e5f6g7h8i9j",
                     *           "organizationId": "org_0a1b2c3d4e5f6g7h8i9j",
                     *           "userId": "user_0a1b2c3d4e5f6g7h8i9j",
                     *           "name": "Deployment",
                     *           "tokenHint": "7hQ2",
                     *           "enabled": true,
                     *           "expiresAt": null,
                     *           "createdAt": "2026-01-31T12:00:00.000Z",
                     *           "revokedAt": null,
                     *           "source": "console",
                     *           "credentialType": "apiKey",
                     *           "label": null,
                     *           "grant": "read",
                     *           "clientId": null,
                     *           "lastUsedAt": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ManagementKeyListResponse"];
                };
            };
        };
    };
    createManagementKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Deployment",
                 *       "grant": "manage"
                 *     }
                 */
                "application/json": components["schemas"]["CreateManagementKeyRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "key": {
                     *         "id": "mkey_0a1b2c3d4e5f6g7h8i9j",
                     *         "organizationId": "org_0a1b2c3d4e5f6g7h8i9j",
                     *         "userId": "user_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Deployment",
                     *         "tokenHint": "7hQ2",
                     *         "enabled": true,
                     *         "expiresAt": null,
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "revokedAt": null,
                     *         "source": "console",
                     *         "credentialType": "apiKey",
                     *         "label": null,
                     *         "grant": "read",
                     *         "clientId": null,
                     *         "lastUsedAt": null,
                     *         "plaintext": "gw_mgmt_…"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedManagementKeyResponse"];
                };
            };
        };
    };
    revokeManagementKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the key. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "key": {
                     *         "id": "mkey_0a1b2c3d4e5f6g7h8i9j",
                     *         "organizationId": "org_0a1b2c3d4e5f6g7h8i9j",
                     *         "userId": "user_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Deployment",
                     *         "tokenHint": "7hQ2",
                     *         "enabled": true,
                     *         "expiresAt": null,
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "revokedAt": null,
                     *         "source": "console",
                     *         "credentialType": "apiKey",
                     *         "label": null,
                     *         "grant": "read",
                     *         "clientId": null,
                     *         "lastUsedAt": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ManagementKeyResponse"];
                };
            };
        };
    };
    revokeCliCredential: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "revoked": true
                     *     }
                     */
                    "application/json": components["schemas"]["RevokedCredentialResponse"];
                };
            };
        };
    };
    listModelPrices: {
        parameters: {
            query?: {
                /** @description UTC day of the prices; today when absent. */
                day?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "prices": {}
                     *     }
                     */
                    "application/json": components["schemas"]["PriceListResponse"];
                };
            };
        };
    };
    getAdminSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "session": {
                     *         "user": {
                     *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *           "name": "Ada Lovelace",
                     *           "email": "ada@example.com",
                     *           "kind": "human",
                     *           "emailVerified": true,
                     *           "image": null,
                     *           "createdAt": "2026-01-31T12:00:00.000Z"
                     *         },
                     *         "organization": {
                     *           "id": "org_0a1b2c3d4e5f6g7h8i9j",
                     *           "name": "Analytical Engines",
                     *           "createdAt": "2026-01-31T12:00:00.000Z",
                     *           "claimed": true,
                     *           "expiresAt": null
                     *         },
                     *         "role": null,
                     *         "memberships": [
                     *           {
                     *             "organization": {
                     *               "id": "org_0a1b2c3d4e5f6g7h8i9j",
                     *               "name": "Analytical Engines",
                     *               "createdAt": "2026-01-31T12:00:00.000Z",
                     *               "claimed": true,
                     *               "expiresAt": null
                     *             },
                     *             "role": "owner",
                     *             "status": "active",
                     *             "joinedAt": "2026-01-31T12:00:00.000Z"
                     *           }
                     *         ],
                     *         "credentialType": "session",
                     *         "assurance": "interactive",
                     *         "actor": {
                     *           "type": "user",
                     *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *           "kind": "human",
                     *           "credentialId": null,
                     *           "actionSource": "web"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AdminSessionResponse"];
                };
            };
        };
    };
    listOrganizations: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "organizations": [
                     *         {
                     *           "organization": {
                     *             "id": "org_0a1b2c3d4e5f6g7h8i9j",
                     *             "name": "Analytical Engines",
                     *             "createdAt": "2026-01-31T12:00:00.000Z",
                     *             "claimed": true,
                     *             "expiresAt": null
                     *           },
                     *           "role": "owner",
                     *           "status": "active",
                     *           "joinedAt": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["OrganizationListResponse"];
                };
            };
        };
    };
    createOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Analytical Engines"
                 *     }
                 */
                "application/json": components["schemas"]["OrganizationNameRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "organization": {
                     *         "id": "org_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Analytical Engines",
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "claimed": true,
                     *         "expiresAt": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OrganizationResponse"];
                };
            };
        };
    };
    selectOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "organizationId": "org_0a1b2c3d4e5f6g7h8i9j"
                 *     }
                 */
                "application/json": components["schemas"]["SelectOrganizationRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "session": {
                     *         "user": {
                     *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *           "name": "Ada Lovelace",
                     *           "email": "ada@example.com",
                     *           "kind": "human",
                     *           "emailVerified": true,
                     *           "image": null,
                     *           "createdAt": "2026-01-31T12:00:00.000Z"
                     *         },
                     *         "organization": {
                     *           "id": "org_0a1b2c3d4e5f6g7h8i9j",
                     *           "name": "Analytical Engines",
                     *           "createdAt": "2026-01-31T12:00:00.000Z",
                     *           "claimed": true,
                     *           "expiresAt": null
                     *         },
                     *         "role": null,
                     *         "memberships": [
                     *           {
                     *             "organization": {
                     *               "id": "org_0a1b2c3d4e5f6g7h8i9j",
                     *               "name": "Analytical Engines",
                     *               "createdAt": "2026-01-31T12:00:00.000Z",
                     *               "claimed": true,
                     *               "expiresAt": null
                     *             },
                     *             "role": "owner",
                     *             "status": "active",
                     *             "joinedAt": "2026-01-31T12:00:00.000Z"
                     *           }
                     *         ],
                     *         "credentialType": "session",
                     *         "assurance": "interactive",
                     *         "actor": {
                     *           "type": "user",
                     *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *           "kind": "human",
                     *           "credentialId": null,
                     *           "actionSource": "web"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AdminSessionResponse"];
                };
            };
        };
    };
    claimOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "bootstrapKey": "gw_mgmt_0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8s9t0u1v2w3x"
                 *     }
                 */
                "application/json": components["schemas"]["ClaimOrganizationRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "session": {
                     *         "user": {
                     *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *           "name": "Ada Lovelace",
                     *           "email": "ada@example.com",
                     *           "kind": "human",
                     *           "emailVerified": true,
                     *           "image": null,
                     *           "createdAt": "2026-01-31T12:00:00.000Z"
                     *         },
                     *         "organization": {
                     *           "id": "org_0a1b2c3d4e5f6g7h8i9j",
                     *           "name": "Analytical Engines",
                     *           "createdAt": "2026-01-31T12:00:00.000Z",
                     *           "claimed": true,
                     *           "expiresAt": null
                     *         },
                     *         "role": null,
                     *         "memberships": [
                     *           {
                     *             "organization": {
                     *               "id": "org_0a1b2c3d4e5f6g7h8i9j",
                     *               "name": "Analytical Engines",
                     *               "createdAt": "2026-01-31T12:00:00.000Z",
                     *               "claimed": true,
                     *               "expiresAt": null
                     *             },
                     *             "role": "owner",
                     *             "status": "active",
                     *             "joinedAt": "2026-01-31T12:00:00.000Z"
                     *           }
                     *         ],
                     *         "credentialType": "session",
                     *         "assurance": "interactive",
                     *         "actor": {
                     *           "type": "user",
                     *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *           "kind": "human",
                     *           "credentialId": null,
                     *           "actionSource": "web"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AdminSessionResponse"];
                };
            };
        };
    };
    renameOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Your current one; any other is not found. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Analytical Engines"
                 *     }
                 */
                "application/json": components["schemas"]["OrganizationNameRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "organization": {
                     *         "id": "org_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Analytical Engines",
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "claimed": true,
                     *         "expiresAt": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OrganizationResponse"];
                };
            };
        };
    };
    listMembers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "members": [
                     *         {
                     *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *           "name": "Ada Lovelace",
                     *           "email": "ada@example.com",
                     *           "kind": "human",
                     *           "role": "owner",
                     *           "joinedAt": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["MemberListResponse"];
                };
            };
        };
    };
    updateMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the member. */
                user: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "role": "owner"
                 *     }
                 */
                "application/json": components["schemas"]["MemberRoleRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "member": {
                     *         "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Ada Lovelace",
                     *         "email": "ada@example.com",
                     *         "kind": "human",
                     *         "role": "owner",
                     *         "joinedAt": "2026-01-31T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["MemberResponse"];
                };
            };
        };
    };
    removeMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the member. */
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "removed": true
                     *     }
                     */
                    "application/json": components["schemas"]["RemovedMemberResponse"];
                };
            };
        };
    };
    listInvitations: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "invitations": [
                     *         {
                     *           "id": "inv_0a1b2c3d4e5f6g7h8i9j",
                     *           "role": "member",
                     *           "email": "grace@example.com",
                     *           "status": "pending",
                     *           "invitedBy": "user_0a1b2c3d4e5f6g7h8i9j",
                     *           "acceptedBy": null,
                     *           "createdAt": "2026-01-31T12:00:00.000Z",
                     *           "expiresAt": "2026-01-31T12:00:00.000Z",
                     *           "acceptedAt": null,
                     *           "revokedAt": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["InvitationListResponse"];
                };
            };
        };
    };
    createInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "role": "member",
                 *       "email": "grace@example.com"
                 *     }
                 */
                "application/json": components["schemas"]["CreateInvitationRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "invitation": {
                     *         "id": "inv_0a1b2c3d4e5f6g7h8i9j",
                     *         "role": "member",
                     *         "email": "grace@example.com",
                     *         "status": "pending",
                     *         "invitedBy": "user_0a1b2c3d4e5f6g7h8i9j",
                     *         "acceptedBy": null,
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "expiresAt": "2026-01-31T12:00:00.000Z",
                     *         "acceptedAt": null,
                     *         "revokedAt": null
                     *       },
                     *       "url": "https://gateway.example.com/invite#Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY",
                     *       "mailed": true
                     *     }
                     */
                    "application/json": components["schemas"]["WrittenInvitationResponse"];
                };
            };
        };
    };
    revokeInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the invitation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "invitation": {
                     *         "id": "inv_0a1b2c3d4e5f6g7h8i9j",
                     *         "role": "member",
                     *         "email": "grace@example.com",
                     *         "status": "pending",
                     *         "invitedBy": "user_0a1b2c3d4e5f6g7h8i9j",
                     *         "acceptedBy": null,
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "expiresAt": "2026-01-31T12:00:00.000Z",
                     *         "acceptedAt": null,
                     *         "revokedAt": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["InvitationResponse"];
                };
            };
        };
    };
    getInvitationDetails: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY"
                 *     }
                 */
                "application/json": components["schemas"]["InvitationTokenRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "organizationName": "Analytical Engines",
                     *       "role": "member",
                     *       "email": "grace@example.com",
                     *       "expiresAt": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["InvitationDetailsResponse"];
                };
            };
        };
    };
    acceptInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY"
                 *     }
                 */
                "application/json": components["schemas"]["InvitationTokenRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "organizationId": "org_0a1b2c3d4e5f6g7h8i9j",
                     *       "role": "member"
                     *     }
                     */
                    "application/json": components["schemas"]["JoinedOrganizationResponse"];
                };
            };
        };
    };
    signUp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Ada Lovelace",
                 *       "email": "ada@example.com",
                 *       "password": "correct horse battery staple"
                 *     }
                 */
                "application/json": components["schemas"]["SignUpRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "token": "Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY",
                     *       "user": {
                     *         "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Ada Lovelace",
                     *         "email": "ada@example.com",
                     *         "emailVerified": true,
                     *         "image": null,
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "updatedAt": "2026-01-31T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SessionBegunResponse"];
                };
            };
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ada@example.com",
                 *       "password": "correct horse battery staple"
                 *     }
                 */
                "application/json": components["schemas"]["SignInRequest"];
                /**
                 * @example {
                 *       "email": "ada@example.com",
                 *       "password": "correct horse battery staple"
                 *     }
                 */
                "application/x-www-form-urlencoded": components["schemas"]["SignInRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "redirect": false,
                     *       "token": "Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY",
                     *       "user": {
                     *         "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Ada Lovelace",
                     *         "email": "ada@example.com",
                     *         "emailVerified": true,
                     *         "image": null,
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "updatedAt": "2026-01-31T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SignInResponse"];
                };
            };
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "session": {
                     *         "id": "session_0a1b2c3d4e5f6g7h8i9j",
                     *         "token": "Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY",
                     *         "userId": "user_0a1b2c3d4e5f6g7h8i9j",
                     *         "expiresAt": "2026-01-31T12:00:00.000Z",
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "updatedAt": "2026-01-31T12:00:00.000Z",
                     *         "ipAddress": null,
                     *         "userAgent": null
                     *       },
                     *       "user": {
                     *         "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Ada Lovelace",
                     *         "email": "ada@example.com",
                     *         "emailVerified": true,
                     *         "image": null,
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "updatedAt": "2026-01-31T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SessionResponse"] | null;
                };
            };
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true
                     *     }
                     */
                    "application/json": components["schemas"]["SignOutResponse"];
                };
            };
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "currentPassword": "correct horse battery staple",
                 *       "newPassword": "staple battery horse correct"
                 *     }
                 */
                "application/json": components["schemas"]["ChangePasswordRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "token": "Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY",
                     *       "user": {
                     *         "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Ada Lovelace",
                     *         "email": "ada@example.com",
                     *         "emailVerified": true,
                     *         "image": null,
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "updatedAt": "2026-01-31T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SessionBegunResponse"];
                };
            };
        };
    };
    updateUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Ada Lovelace",
                 *       "image": null
                 *     }
                 */
                "application/json": components["schemas"]["UpdateUserRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": true,
                     *       "user": {
                     *         "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Ada Lovelace",
                     *         "email": "ada@example.com",
                     *         "emailVerified": true,
                     *         "image": null,
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "updatedAt": "2026-01-31T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["UpdateUserResponse"];
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sessions": [
                     *         {
                     *           "id": "session_0a1b2c3d4e5f6g7h8i9j",
                     *           "current": true,
                     *           "ipAddress": "198.51.100.7",
                     *           "userAgent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
                     *           "createdAt": "2026-01-31T12:00:00.000Z",
                     *           "updatedAt": "2026-01-31T12:00:00.000Z",
                     *           "expiresAt": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["OwnSessionsResponse"];
                };
            };
        };
    };
    revokeSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "session_0a1b2c3d4e5f6g7h8i9j"
                 *     }
                 */
                "application/json": components["schemas"]["RevokeSessionRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "revoked": 2
                     *     }
                     */
                    "application/json": components["schemas"]["RevokedSessionsResponse"];
                };
            };
        };
    };
    revokeSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "revoked": 2
                     *     }
                     */
                    "application/json": components["schemas"]["RevokedSessionsResponse"];
                };
            };
        };
    };
    listPasskeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "passkeys": [
                     *         {
                     *           "id": "passkey_0a1b2c3d4e5f6g7h8i9j",
                     *           "name": "Laptop",
                     *           "createdAt": "2026-01-31T12:00:00.000Z",
                     *           "lastUsedAt": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["PasskeyListResponse"];
                };
            };
        };
    };
    createPasskey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Laptop",
                 *       "id": "YW4taWQtb2YtYS1wYXNza2V5",
                 *       "clientDataJSON": "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0",
                 *       "attestationObject": "o2NmbXRkbm9uZQ"
                 *     }
                 */
                "application/json": components["schemas"]["RegisterPasskeyRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "passkey": {
                     *         "id": "passkey_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Laptop",
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "lastUsedAt": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["PasskeyResponse"];
                };
            };
        };
    };
    startPasskey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "options": {}
                     *     }
                     */
                    "application/json": components["schemas"]["PasskeyOptionsResponse"];
                };
            };
        };
    };
    removePasskey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the passkey. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "removed": true
                     *     }
                     */
                    "application/json": components["schemas"]["RemovedPasskeyResponse"];
                };
            };
        };
    };
    startPasskeySignIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "options": {}
                     *     }
                     */
                    "application/json": components["schemas"]["PasskeyOptionsResponse"];
                };
            };
        };
    };
    signInWithPasskey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "YW4taWQtb2YtYS1wYXNza2V5",
                 *       "clientDataJSON": "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0",
                 *       "authenticatorData": "SZYN5YgOjGh0NBcPZHZgW4",
                 *       "signature": "MEUCIQDx0aGVzaWduYXR1cmU",
                 *       "userHandle": "dXNlcl8wYTFiMmMzZDRl"
                 *     }
                 */
                "application/json": components["schemas"]["PasskeySignInRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "redirect": false,
                     *       "token": "Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY",
                     *       "user": {
                     *         "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Ada Lovelace",
                     *         "email": "ada@example.com",
                     *         "emailVerified": true,
                     *         "image": null,
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "updatedAt": "2026-01-31T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SignInResponse"];
                };
            };
        };
    };
    createPasswordReset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the member. */
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "url": "https://gateway.example.com/reset#Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY",
                     *       "expiresAt": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["IssuedPasswordResetResponse"];
                };
            };
        };
    };
    countRecoveryCodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "unused": 1
                     *     }
                     */
                    "application/json": components["schemas"]["RecoveryCodeCountResponse"];
                };
            };
        };
    };
    replaceRecoveryCodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "codes": [
                     *         "3abc-defg-hijk-0123"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["RecoveryCodesResponse"];
                };
            };
        };
    };
    recover: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ada@example.com",
                 *       "code": "3abc-defg-hijk-0123",
                 *       "newPassword": "staple battery horse correct"
                 *     }
                 */
                "application/json": components["schemas"]["RecoverRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "token": "Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY",
                     *       "user": {
                     *         "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Ada Lovelace",
                     *         "email": "ada@example.com",
                     *         "emailVerified": true,
                     *         "image": null,
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "updatedAt": "2026-01-31T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SessionBegunResponse"];
                };
            };
        };
    };
    resetPassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY",
                 *       "newPassword": "staple battery horse correct"
                 *     }
                 */
                "application/json": components["schemas"]["ResetPasswordRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "reset": true
                     *     }
                     */
                    "application/json": components["schemas"]["PasswordResetResponse"];
                };
            };
        };
    };
    signInWithGoogle: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "provider": "google",
                 *       "callbackURL": "/apps"
                 *     }
                 */
                "application/json": components["schemas"]["SocialSignInRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "url": "https://accounts.google.com/o/oauth2/v2/auth?client_id=client-1",
                     *       "redirect": true
                     *     }
                     */
                    "application/json": components["schemas"]["SocialSignInResponse"];
                };
            };
        };
    };
    googleCallback: {
        parameters: {
            query?: {
                /** @description Why the sign-in failed. */
                error?: string;
                /** @description The authorization code. */
                code?: string;
                /** @description The `state` that the sign-in started with. */
                state?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getConsoleCapabilities: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "billing": true,
                     *       "registrationOpen": true,
                     *       "awaitsFirstPerson": true,
                     *       "googleAuth": true,
                     *       "passkeys": true,
                     *       "simulatedProvider": true,
                     *       "mcpUrl": "https://id.example.com/keys",
                     *       "termsOfServiceUrl": "https://id.example.com/keys",
                     *       "privacyPolicyUrl": "https://id.example.com/keys"
                     *     }
                     */
                    "application/json": components["schemas"]["CapabilitiesResponse"];
                };
            };
        };
    };
    listProviders: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "providers": [
                     *         {
                     *           "id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21",
                     *           "type": "openai",
                     *           "slug": "openai",
                     *           "name": "OpenAI",
                     *           "secretHint": "8i9j",
                     *           "providerGatewayId": null,
                     *           "gatewayRoute": null,
                     *           "baseUrl": null,
                     *           "pricing": null,
                     *           "route": "direct",
                     *           "capability": {
                     *             "apiStyles": [
                     *               "responses"
                     *             ],
                     *             "endpointStyles": [
                     *               "responses"
                     *             ],
                     *             "modelPrefix": null,
                     *             "paths": "provider",
                     *             "inferencePaths": [
                     *               "v1/responses",
                     *               "v1/chat/completions"
                     *             ]
                     *           },
                     *           "lastTest": {
                     *             "at": "2026-01-31T12:00:00.000Z",
                     *             "result": "accepted"
                     *           },
                     *           "warnings": [
                     *             "key_attestation (observe) is looser than app_attest (enforce)."
                     *           ],
                     *           "revision": 1,
                     *           "status": "active",
                     *           "createdAt": "2026-01-31T12:00:00.000Z",
                     *           "createdBy": "user_0a1b2c3d4e5f6g7h8i9j"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ProviderListResponse"];
                };
            };
        };
    };
    createProvider: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "openai",
                 *       "name": "OpenAI",
                 *       "slug": "openai",
                 *       "secret": "sk-0a1b2c3d4e5f6g7h8i9j"
                 *     }
                 */
                "application/json": components["schemas"]["CreateProviderRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "provider": {
                     *         "id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21",
                     *         "type": "openai",
                     *         "slug": "openai",
                     *         "name": "OpenAI",
                     *         "secretHint": "8i9j",
                     *         "providerGatewayId": null,
                     *         "gatewayRoute": null,
                     *         "baseUrl": null,
                     *         "pricing": null,
                     *         "route": "direct",
                     *         "capability": {
                     *           "apiStyles": [
                     *             "responses"
                     *           ],
                     *           "endpointStyles": [
                     *             "responses"
                     *           ],
                     *           "modelPrefix": null,
                     *           "paths": "provider",
                     *           "inferencePaths": [
                     *             "v1/responses",
                     *             "v1/chat/completions"
                     *           ]
                     *         },
                     *         "lastTest": {
                     *           "at": "2026-01-31T12:00:00.000Z",
                     *           "result": "accepted"
                     *         },
                     *         "warnings": [
                     *           "key_attestation (observe) is looser than app_attest (enforce)."
                     *         ],
                     *         "revision": 1,
                     *         "status": "active",
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "createdBy": "user_0a1b2c3d4e5f6g7h8i9j"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ProviderResponse"];
                };
            };
        };
    };
    testProviderCredential: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "openai",
                 *       "secret": "sk-0a1b2c3d4e5f6g7h8i9j"
                 *     }
                 */
                "application/json": components["schemas"]["TestProviderRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "validated": true,
                     *       "reason": "unreachable",
                     *       "status": 1,
                     *       "warnings": [
                     *         "key_attestation (observe) is looser than app_attest (enforce)."
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ProviderTestResponse"];
                };
            };
        };
    };
    testProvider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "validated": true,
                     *       "reason": "unreachable",
                     *       "status": 1,
                     *       "warnings": [
                     *         "key_attestation (observe) is looser than app_attest (enforce)."
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ProviderTestResponse"];
                };
            };
        };
    };
    updateProvider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "status": "disabled",
                 *       "revision": 1
                 *     }
                 */
                "application/json": components["schemas"]["UpdateProviderRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "provider": {
                     *         "id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21",
                     *         "type": "openai",
                     *         "slug": "openai",
                     *         "name": "OpenAI",
                     *         "secretHint": "8i9j",
                     *         "providerGatewayId": null,
                     *         "gatewayRoute": null,
                     *         "baseUrl": null,
                     *         "pricing": null,
                     *         "route": "direct",
                     *         "capability": {
                     *           "apiStyles": [
                     *             "responses"
                     *           ],
                     *           "endpointStyles": [
                     *             "responses"
                     *           ],
                     *           "modelPrefix": null,
                     *           "paths": "provider",
                     *           "inferencePaths": [
                     *             "v1/responses",
                     *             "v1/chat/completions"
                     *           ]
                     *         },
                     *         "lastTest": {
                     *           "at": "2026-01-31T12:00:00.000Z",
                     *           "result": "accepted"
                     *         },
                     *         "warnings": [
                     *           "key_attestation (observe) is looser than app_attest (enforce)."
                     *         ],
                     *         "revision": 1,
                     *         "status": "active",
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "createdBy": "user_0a1b2c3d4e5f6g7h8i9j"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ProviderResponse"];
                };
            };
        };
    };
    deleteProvider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "provider_id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21"
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedProviderResponse"];
                };
            };
        };
    };
    listProviderGateways: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "gateways": [
                     *         {
                     *           "id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21",
                     *           "name": "Edge of Europe",
                     *           "secretHint": "8i9j",
                     *           "providerCount": 1,
                     *           "referencedCount": 1,
                     *           "revision": 1,
                     *           "status": "active",
                     *           "createdAt": "2026-01-31T12:00:00.000Z",
                     *           "updatedAt": "2026-01-31T12:00:00.000Z",
                     *           "createdBy": "user_0a1b2c3d4e5f6g7h8i9j",
                     *           "type": "cf_aig",
                     *           "config": {
                     *             "accountId": "0a1b2c3d4e5f",
                     *             "gatewayId": "main"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ProviderGatewayListResponse"];
                };
            };
        };
    };
    createProviderGateway: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "cf_aig",
                 *       "name": "Edge of Europe",
                 *       "token": "Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY",
                 *       "accountId": "0a1b2c3d4e5f",
                 *       "gatewayId": "main"
                 *     }
                 */
                "application/json": components["schemas"]["CreateCfAigGatewayRequest"] | components["schemas"]["CreateVercelGatewayRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "gateway": {
                     *         "id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21",
                     *         "name": "Edge of Europe",
                     *         "secretHint": "8i9j",
                     *         "providerCount": 1,
                     *         "referencedCount": 1,
                     *         "revision": 1,
                     *         "status": "active",
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "updatedAt": "2026-01-31T12:00:00.000Z",
                     *         "createdBy": "user_0a1b2c3d4e5f6g7h8i9j",
                     *         "type": "cf_aig",
                     *         "config": {
                     *           "accountId": "0a1b2c3d4e5f",
                     *           "gatewayId": "main"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ProviderGatewayResponse"];
                };
            };
        };
    };
    testProviderGateway: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "cf_aig",
                 *       "token": "Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY",
                 *       "accountId": "0a1b2c3d4e5f",
                 *       "gatewayId": "main"
                 *     }
                 */
                "application/json": components["schemas"]["TestCfAigGatewayRequest"] | components["schemas"]["TestVercelGatewayRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "validated": true,
                     *       "reason": "unreachable",
                     *       "status": 1
                     *     }
                     */
                    "application/json": components["schemas"]["ProviderGatewayTestResponse"];
                };
            };
        };
    };
    deleteProviderGateway: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "provider_gateway_id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21"
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedProviderGatewayResponse"];
                };
            };
        };
    };
    updateProviderGateway: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Edge of Europe",
                 *       "revision": 1
                 *     }
                 */
                "application/json": components["schemas"]["RenameGatewayRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "gateway": {
                     *         "id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21",
                     *         "name": "Edge of Europe",
                     *         "secretHint": "8i9j",
                     *         "providerCount": 1,
                     *         "referencedCount": 1,
                     *         "revision": 1,
                     *         "status": "active",
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "updatedAt": "2026-01-31T12:00:00.000Z",
                     *         "createdBy": "user_0a1b2c3d4e5f6g7h8i9j",
                     *         "type": "cf_aig",
                     *         "config": {
                     *           "accountId": "0a1b2c3d4e5f",
                     *           "gatewayId": "main"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ProviderGatewayResponse"];
                };
            };
        };
    };
    rotateProviderGateway: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY",
                 *       "revision": 1
                 *     }
                 */
                "application/json": components["schemas"]["RotateGatewayRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "gateway": {
                     *         "id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21",
                     *         "name": "Edge of Europe",
                     *         "secretHint": "8i9j",
                     *         "providerCount": 1,
                     *         "referencedCount": 1,
                     *         "revision": 1,
                     *         "status": "active",
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "updatedAt": "2026-01-31T12:00:00.000Z",
                     *         "createdBy": "user_0a1b2c3d4e5f6g7h8i9j",
                     *         "type": "cf_aig",
                     *         "config": {
                     *           "accountId": "0a1b2c3d4e5f",
                     *           "gatewayId": "main"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ProviderGatewayResponse"];
                };
            };
        };
    };
    listAppKeys: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "keys": [
                     *         {
                     *           "id": "key_0a1b2c3d4e5f6g7h8i9j",
                     *           "name": "Server",
                     *           "key_prefix": "gw_Ab3dE6gH9",
                     *           "status": "active",
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "last_used_at": null,
                     *           "expires_at": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AppKeyListResponse"];
                };
            };
        };
    };
    createAppKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Server",
                 *       "expires_at": "2027-01-31T12:00:00Z"
                 *     }
                 */
                "application/json": components["schemas"]["CreateAppKeyRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "key_0a1b2c3d4e5f6g7h8i9j",
                     *       "name": "Server",
                     *       "key": "gw_Ab3dE6gH9kLmN0pQrStUvWxYz12345678",
                     *       "key_prefix": "gw_Ab3dE6gH9",
                     *       "created_at": "2026-01-31T12:00:00.000Z",
                     *       "expires_at": null
                     *     }
                     */
                    "application/json": components["schemas"]["IssuedAppKeyResponse"];
                };
            };
        };
    };
    revokeAppKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the key. */
                key: string;
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "key": "key_0a1b2c3d4e5f6g7h8i9j"
                     *     }
                     */
                    "application/json": components["schemas"]["RevokedAppKeyResponse"];
                };
            };
        };
    };
    getAppUsage: {
        parameters: {
            query?: {
                /** @description UTC month. */
                month?: string;
            };
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "month": "2026-11",
                     *       "requests": 128,
                     *       "input_tokens": 20480,
                     *       "cached_input_tokens": 0,
                     *       "cache_write_tokens": 0,
                     *       "output_tokens": 4096,
                     *       "cost_usd": 0.0147,
                     *       "estimated_cost_usd": 0
                     *     }
                     */
                    "application/json": components["schemas"]["MonthUsageResponse"];
                };
            };
        };
    };
    listAppEvents: {
        parameters: {
            query?: {
                /** @description Maximum number of events to return; 50 when absent. */
                limit?: number;
                /** @description Only events with this status. */
                status?: "ok" | "provider_error" | "blocked_app_rate" | "blocked_app_budget" | "blocked_billing" | "blocked_user" | "blocked_policy" | "blocked_invalid";
                /** @description Only events of this provider type. */
                provider?: "openai" | "anthropic" | "xai" | "gemini" | "perplexity" | "deepseek" | "groq" | "mistral" | "together" | "fireworks" | "cerebras" | "moonshot" | "huggingface" | "baseten" | "bytedance" | "openrouter";
                /** @description Only events of this user id. */
                user?: string;
                /** @description Only events of this canonical model. */
                model?: string;
                /** @description Only events with a smaller id. */
                before_id?: number;
            };
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "limit": 1,
                     *       "next_before_id": null,
                     *       "events": [
                     *         {
                     *           "id": 1,
                     *           "app_id": "travel-journal-k3x9qa",
                     *           "user_id": "customer-4711",
                     *           "api_key_id": "key_0a1b2c3d4e5f6g7h8i9j",
                     *           "provider": "openai",
                     *           "provider_slug": "openai",
                     *           "provider_gateway_id": null,
                     *           "provider_gateway_type": null,
                     *           "credential_source": null,
                     *           "model_author": "openai",
                     *           "served_provider": null,
                     *           "served_model": null,
                     *           "model": "gpt-4.1-mini",
                     *           "route": "v1/chat/completions",
                     *           "endpoint_slug": null,
                     *           "input_tokens": 20480,
                     *           "cached_input_tokens": 0,
                     *           "cache_write_tokens": 0,
                     *           "output_tokens": 4096,
                     *           "cost_usd": 0.0147,
                     *           "estimated_cost_usd": 0,
                     *           "reported_cost_usd": null,
                     *           "cost_source": null,
                     *           "app_version": "1.4.0",
                     *           "auth_method": null,
                     *           "status": "ok",
                     *           "requests": 128,
                     *           "client_aborted": null,
                     *           "latency_ms": 840,
                     *           "duration_ms": 2310,
                     *           "attempts": null,
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "settled_at": null,
                     *           "refusal": {
                     *             "code": "model_not_allowed",
                     *             "reason": null,
                     *             "message": "The application does not allow the model \"gpt-5\".",
                     *             "until": null
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["UsageEventsResponse"];
                };
            };
        };
    };
    getAppUsageTimeseries: {
        parameters: {
            query?: {
                /** @description First UTC day; 29 days before the last one when absent. */
                from?: string;
                /** @description Last UTC day, inclusive; today when absent. */
                to?: string;
            };
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "from": "2026-01-31",
                     *       "to": "2026-01-31",
                     *       "buckets": [
                     *         {
                     *           "requests": 128,
                     *           "input_tokens": 20480,
                     *           "cached_input_tokens": 0,
                     *           "cache_write_tokens": 0,
                     *           "output_tokens": 4096,
                     *           "cost_usd": 0.0147,
                     *           "estimated_cost_usd": 0,
                     *           "errors": 0,
                     *           "blocked": 1,
                     *           "date": "2026-01-31",
                     *           "provider": "openai"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["UsageTimeseriesResponse"];
                };
            };
        };
    };
    getAppUsageBreakdown: {
        parameters: {
            query?: {
                /** @description One of model, provider, provider_slug, provider_gateway, credential_source, model_author, user, status, cost_source, route, endpoint, app_version, key, or `group:<name>` of `limits.groups`; model when absent. */
                by?: string;
                /** @description First UTC day; 29 days before the last one when absent. */
                from?: string;
                /** @description Last UTC day, inclusive; today when absent. */
                to?: string;
                /** @description Maximum number of rows to return; 50 when absent. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "by": "model",
                     *       "from": "2026-01-31",
                     *       "to": "2026-01-31",
                     *       "complete_from": "2026-01-31",
                     *       "rows": [
                     *         {
                     *           "requests": 128,
                     *           "input_tokens": 20480,
                     *           "cached_input_tokens": 0,
                     *           "cache_write_tokens": 0,
                     *           "output_tokens": 4096,
                     *           "cost_usd": 0.0147,
                     *           "estimated_cost_usd": 0,
                     *           "errors": 0,
                     *           "blocked": 1,
                     *           "key": "gpt-4.1-mini"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["UsageBreakdownResponse"];
                };
            };
        };
    };
    getUsage: {
        parameters: {
            query?: {
                /** @description Only usage of this application id. */
                app?: string;
                /** @description First UTC day; 29 days before the last one when absent. */
                from?: string;
                /** @description Last UTC day, inclusive; today when absent. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "requests": 128,
                     *       "input_tokens": 20480,
                     *       "cached_input_tokens": 0,
                     *       "cache_write_tokens": 0,
                     *       "output_tokens": 4096,
                     *       "cost_usd": 0.0147,
                     *       "estimated_cost_usd": 0,
                     *       "errors": 0,
                     *       "blocked": 1,
                     *       "from": "2026-01-31",
                     *       "to": "2026-01-31",
                     *       "latency": {
                     *         "calls": 1,
                     *         "p50_ms": null,
                     *         "p95_ms": null
                     *       },
                     *       "duration": {
                     *         "calls": 1,
                     *         "p50_ms": null,
                     *         "p95_ms": null
                     *       },
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "latency_from": "2026-01-31",
                     *       "previous": {
                     *         "requests": 128,
                     *         "input_tokens": 20480,
                     *         "cached_input_tokens": 0,
                     *         "cache_write_tokens": 0,
                     *         "output_tokens": 4096,
                     *         "cost_usd": 0.0147,
                     *         "estimated_cost_usd": 0,
                     *         "errors": 0,
                     *         "blocked": 1,
                     *         "from": "2026-01-31",
                     *         "to": "2026-01-31",
                     *         "latency": {
                     *           "calls": 1,
                     *           "p50_ms": null,
                     *           "p95_ms": null
                     *         },
                     *         "duration": {
                     *           "calls": 1,
                     *           "p50_ms": null,
                     *           "p95_ms": null
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AccountUsageResponse"];
                };
            };
        };
    };
    getUsageTimeseries: {
        parameters: {
            query?: {
                /** @description Only usage of this application id. */
                app?: string;
                /** @description First UTC day; 29 days before the last one when absent. */
                from?: string;
                /** @description Last UTC day, inclusive; today when absent. */
                to?: string;
                /** @description The dimension by which buckets are split; `provider` when absent. */
                by?: "provider" | "model" | "app" | "status";
                /** @description Length of a bucket; `day` when absent. */
                unit?: "day" | "hour";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "from": "2026-01-31",
                     *       "to": "2026-01-31",
                     *       "unit": "day",
                     *       "by": "provider",
                     *       "buckets": [
                     *         {
                     *           "requests": 128,
                     *           "input_tokens": 20480,
                     *           "cached_input_tokens": 0,
                     *           "cache_write_tokens": 0,
                     *           "output_tokens": 4096,
                     *           "cost_usd": 0.0147,
                     *           "estimated_cost_usd": 0,
                     *           "errors": 0,
                     *           "blocked": 1,
                     *           "start": "2026-01-31",
                     *           "key": "openai"
                     *         }
                     *       ],
                     *       "latencies": [
                     *         {
                     *           "calls": 1,
                     *           "p50_ms": null,
                     *           "p95_ms": null,
                     *           "start": "2026-01-31"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AccountTimeseriesResponse"];
                };
            };
        };
    };
    getUsageBreakdown: {
        parameters: {
            query?: {
                /** @description Only usage of this application id. */
                app?: string;
                /** @description First UTC day; 29 days before the last one when absent. */
                from?: string;
                /** @description Last UTC day, inclusive; today when absent. */
                to?: string;
                /** @description One of model, provider, provider_slug, provider_gateway, credential_source, model_author, user, status, cost_source, route, endpoint, app_version, key, app, or `group:<name>` of `limits.groups`; model when absent. */
                by?: string;
                /** @description Maximum number of rows to return; 50 when absent. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "by": "model",
                     *       "from": "2026-01-31",
                     *       "to": "2026-01-31",
                     *       "complete_from": "2026-01-31",
                     *       "total": {
                     *         "requests": 128,
                     *         "input_tokens": 20480,
                     *         "cached_input_tokens": 0,
                     *         "cache_write_tokens": 0,
                     *         "output_tokens": 4096,
                     *         "cost_usd": 0.0147,
                     *         "estimated_cost_usd": 0,
                     *         "errors": 0,
                     *         "blocked": 1
                     *       },
                     *       "rows": [
                     *         {
                     *           "requests": 128,
                     *           "input_tokens": 20480,
                     *           "cached_input_tokens": 0,
                     *           "cache_write_tokens": 0,
                     *           "output_tokens": 4096,
                     *           "cost_usd": 0.0147,
                     *           "estimated_cost_usd": 0,
                     *           "errors": 0,
                     *           "blocked": 1,
                     *           "key": "gpt-4.1-mini",
                     *           "app_id": "travel-journal-k3x9qa",
                     *           "latency": {
                     *             "calls": 1,
                     *             "p50_ms": null,
                     *             "p95_ms": null
                     *           },
                     *           "duration": {
                     *             "calls": 1,
                     *             "p50_ms": null,
                     *             "p95_ms": null
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AccountBreakdownResponse"];
                };
            };
        };
    };
    getUsageBreakdownCsv: {
        parameters: {
            query?: {
                /** @description Only usage of this application id. */
                app?: string;
                /** @description First UTC day; 29 days before the last one when absent. */
                from?: string;
                /** @description Last UTC day, inclusive; today when absent. */
                to?: string;
                /** @description One of model, provider, provider_slug, provider_gateway, credential_source, model_author, user, status, cost_source, route, endpoint, app_version, key, app, or `group:<name>` of `limits.groups`; model when absent. */
                by?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example "model","requests"
                     *     "gpt-4.1","2"
                     */
                    "text/csv": string;
                };
            };
        };
    };
    listUsageEvents: {
        parameters: {
            query?: {
                /** @description Only usage of this application id. */
                app?: string;
                /** @description First UTC day; 29 days before the last one when absent. */
                from?: string;
                /** @description Last UTC day, inclusive; today when absent. */
                to?: string;
                /** @description Only events with this status; `refused`: with any of `blocked_*`. */
                status?: "ok" | "provider_error" | "blocked_app_rate" | "blocked_app_budget" | "blocked_billing" | "blocked_user" | "blocked_policy" | "blocked_invalid" | "refused";
                /** @description Only refusals with this error code. */
                reason?: string;
                /** @description Only events of this user id. */
                user?: string;
                /** @description Only events of this named endpoint. */
                endpoint?: string;
                /** @description Only events of this provider instance, or of this provider type. */
                provider?: string;
                /** @description Only events of this canonical model. */
                model?: string;
                /** @description Only events of this application key id. */
                key?: string;
                /** @description Maximum number of events to return; 50 when absent. */
                limit?: number;
                /** @description Only older events: `next` of the answer before. */
                before?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "from": "2026-01-31",
                     *       "to": "2026-01-31",
                     *       "limit": 1,
                     *       "next": null,
                     *       "events": [
                     *         {
                     *           "id": 1,
                     *           "app_id": "travel-journal-k3x9qa",
                     *           "user_id": "customer-4711",
                     *           "api_key_id": "key_0a1b2c3d4e5f6g7h8i9j",
                     *           "provider": "openai",
                     *           "provider_slug": "openai",
                     *           "provider_gateway_id": null,
                     *           "provider_gateway_type": null,
                     *           "credential_source": null,
                     *           "model_author": "openai",
                     *           "served_provider": null,
                     *           "served_model": null,
                     *           "model": "gpt-4.1-mini",
                     *           "route": "v1/chat/completions",
                     *           "endpoint_slug": null,
                     *           "input_tokens": 20480,
                     *           "cached_input_tokens": 0,
                     *           "cache_write_tokens": 0,
                     *           "output_tokens": 4096,
                     *           "cost_usd": 0.0147,
                     *           "estimated_cost_usd": 0,
                     *           "reported_cost_usd": null,
                     *           "cost_source": null,
                     *           "app_version": "1.4.0",
                     *           "auth_method": null,
                     *           "status": "ok",
                     *           "requests": 128,
                     *           "client_aborted": null,
                     *           "latency_ms": 840,
                     *           "duration_ms": 2310,
                     *           "attempts": null,
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "settled_at": null,
                     *           "refusal": {
                     *             "code": "model_not_allowed",
                     *             "reason": null,
                     *             "message": "The application does not allow the model \"gpt-5\".",
                     *             "until": null
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AccountEventsResponse"];
                };
            };
        };
    };
    getUsageEventsCsv: {
        parameters: {
            query?: {
                /** @description Only usage of this application id. */
                app?: string;
                /** @description First UTC day; 29 days before the last one when absent. */
                from?: string;
                /** @description Last UTC day, inclusive; today when absent. */
                to?: string;
                /** @description Only events with this status; `refused`: with any of `blocked_*`. */
                status?: "ok" | "provider_error" | "blocked_app_rate" | "blocked_app_budget" | "blocked_billing" | "blocked_user" | "blocked_policy" | "blocked_invalid" | "refused";
                /** @description Only refusals with this error code. */
                reason?: string;
                /** @description Only events of this user id. */
                user?: string;
                /** @description Only events of this named endpoint. */
                endpoint?: string;
                /** @description Only events of this provider instance, or of this provider type. */
                provider?: string;
                /** @description Only events of this canonical model. */
                model?: string;
                /** @description Only events of this application key id. */
                key?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example "model","requests"
                     *     "gpt-4.1","2"
                     */
                    "text/csv": string;
                };
            };
        };
    };
    exportUsage: {
        parameters: {
            query?: {
                /** @description `csv` when absent; `ndjson`: one JSON object per line; `focus`: CSV with columns of FOCUS, without refusals. */
                format?: "csv" | "ndjson" | "focus";
                /** @description Start: a UTC day or a time with its zone; 29 days before the day of `until` when absent. */
                since?: string;
                /** @description End, exclusive: a UTC day, of which it is the start, or a time with its zone; now when absent. */
                until?: string;
                /** @description `X-Next-Cursor` of the page before; the first page when absent. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example "id","created_at"
                     *     "1","2026-01-31T12:00:00.000Z"
                     */
                    "text/csv": string;
                    /** @example {"id":1,"created_at":"2026-01-31T12:00:00.000Z"} */
                    "application/x-ndjson": string;
                };
            };
        };
    };
    getUsageExportManifest: {
        parameters: {
            query?: {
                /** @description `csv` when absent; `ndjson`: one JSON object per line; `focus`: CSV with columns of FOCUS, without refusals. */
                format?: "csv" | "ndjson" | "focus";
                /** @description Start: a UTC day or a time with its zone; 29 days before the day of `until` when absent. */
                since?: string;
                /** @description End, exclusive: a UTC day, of which it is the start, or a time with its zone; now when absent. */
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "rows": 1,
                     *       "sum_nano_usd": 14700000,
                     *       "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                     *       "since": "2026-01-31T12:00:00.000Z",
                     *       "until": "2026-01-31T12:00:00.000Z",
                     *       "settled_until": "2026-01-31T12:00:00.000Z",
                     *       "complete": true
                     *     }
                     */
                    "application/json": components["schemas"]["UsageExportManifestResponse"];
                };
            };
        };
    };
    exportAppUsage: {
        parameters: {
            query?: {
                /** @description `csv` when absent; `ndjson`: one JSON object per line; `focus`: CSV with columns of FOCUS, without refusals. */
                format?: "csv" | "ndjson" | "focus";
                /** @description Start: a UTC day or a time with its zone; 29 days before the day of `until` when absent. */
                since?: string;
                /** @description End, exclusive: a UTC day, of which it is the start, or a time with its zone; now when absent. */
                until?: string;
                /** @description `X-Next-Cursor` of the page before; the first page when absent. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example "id","created_at"
                     *     "1","2026-01-31T12:00:00.000Z"
                     */
                    "text/csv": string;
                    /** @example {"id":1,"created_at":"2026-01-31T12:00:00.000Z"} */
                    "application/x-ndjson": string;
                };
            };
        };
    };
    getAppUsageExportManifest: {
        parameters: {
            query?: {
                /** @description `csv` when absent; `ndjson`: one JSON object per line; `focus`: CSV with columns of FOCUS, without refusals. */
                format?: "csv" | "ndjson" | "focus";
                /** @description Start: a UTC day or a time with its zone; 29 days before the day of `until` when absent. */
                since?: string;
                /** @description End, exclusive: a UTC day, of which it is the start, or a time with its zone; now when absent. */
                until?: string;
            };
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "rows": 1,
                     *       "sum_nano_usd": 14700000,
                     *       "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                     *       "since": "2026-01-31T12:00:00.000Z",
                     *       "until": "2026-01-31T12:00:00.000Z",
                     *       "settled_until": "2026-01-31T12:00:00.000Z",
                     *       "complete": true
                     *     }
                     */
                    "application/json": components["schemas"]["UsageExportManifestResponse"];
                };
            };
        };
    };
    repriceAppUsage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "provider": "openai",
                 *       "model": "gpt-4.1-mini",
                 *       "month": "2026-01",
                 *       "apply": false
                 *     }
                 */
                "application/json": components["schemas"]["RepriceUsageRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "provider": "openai",
                     *       "model": "gpt-4.1-mini",
                     *       "month": "2026-11",
                     *       "applied": true,
                     *       "matched_events": 1,
                     *       "unmetered_events": 1,
                     *       "unpriced_events": 1,
                     *       "unpriced_cost_usd": 1,
                     *       "previous_cost_usd": 1,
                     *       "recalculated_cost_usd": 1,
                     *       "delta_usd": 1
                     *     }
                     */
                    "application/json": components["schemas"]["RepriceUsageResponse"];
                };
            };
        };
    };
    settleAppEstimates: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "month": "2026-01",
                 *       "apply": false,
                 *       "cost": "zero",
                 *       "filter": {
                 *         "provider": "openai",
                 *         "status": "provider_error"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["SettleEstimatesRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "month": "2026-11",
                     *       "applied": true,
                     *       "matched_events": 1,
                     *       "has_more": true,
                     *       "previous_cost_usd": 1,
                     *       "previous_estimated_cost_usd": 1,
                     *       "settled_cost_usd": 1,
                     *       "settled_estimated_cost_usd": 1,
                     *       "delta_usd": 1,
                     *       "sample": [
                     *         {
                     *           "id": 1,
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "provider": "openai",
                     *           "model": "gpt-4.1-mini",
                     *           "status": "ok",
                     *           "previous_cost_usd": 1,
                     *           "previous_estimated_cost_usd": 1,
                     *           "cost_usd": 0.0147,
                     *           "estimated_cost_usd": 0
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["SettleEstimatesResponse"];
                };
            };
        };
    };
    listAppUsers: {
        parameters: {
            query?: {
                /** @description UTC month of the usage; the current one when absent. */
                month?: string;
                /** @description Only users with this text in their id. */
                query?: string;
                /** @description Only users with this status. */
                status?: "active" | "blocked";
                /** @description Maximum number of users to return; 50 when absent. */
                limit?: number;
                /** @description How many users to skip; 0 when absent. Only with `sort=recent`. */
                offset?: number;
                /** @description `recent`, when absent: the most recently active first. `cost`: the largest cost of the month first. `budget`: the largest share of the budget first. Ties are ordered by id. */
                sort?: "recent" | "cost" | "budget";
                /** @description `true`: only users who have spent their budget of the month or, in the current month, of the day or week; nobody where each user has none. */
                at_limit?: "true" | "false";
                /** @description Only users who have spent at least this percentage of such a budget, as `at_limit` does with 100. Not with `at_limit=true`. */
                min_budget_percent?: number;
                /** @description `next_cursor` of the page before, with the same `sort`. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "month": "2026-01",
                     *       "total": 1,
                     *       "limit": 1,
                     *       "offset": 1,
                     *       "next_cursor": null,
                     *       "monthly_budget_usd": null,
                     *       "users": [
                     *         {
                     *           "id": "customer-4711",
                     *           "status": "active",
                     *           "attest_key_id": null,
                     *           "attest_registered": true,
                     *           "attest_counter": 1,
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "last_seen_at": "2026-01-31T12:00:00.000Z",
                     *           "is_virtual": true,
                     *           "usage": {
                     *             "requests": 128,
                     *             "input_tokens": 20480,
                     *             "cached_input_tokens": 0,
                     *             "cache_write_tokens": 0,
                     *             "output_tokens": 4096,
                     *             "cost_usd": 0.0147,
                     *             "estimated_cost_usd": 0,
                     *             "errors": 0,
                     *             "blocked": 1
                     *           },
                     *           "budget_spent_usd": 1,
                     *           "at_limit": true
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["UserListResponse"];
                };
            };
        };
    };
    getAppUser: {
        parameters: {
            query?: {
                /** @description UTC month of the usage; the current one when absent. */
                month?: string;
            };
            header?: never;
            path: {
                /** @description Id of the user, percent-encoded. */
                user: string;
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "month": "2026-01",
                     *       "user": {
                     *         "id": "customer-4711",
                     *         "status": "active",
                     *         "attest_key_id": null,
                     *         "attest_registered": true,
                     *         "attest_counter": 1,
                     *         "created_at": "2026-01-31T12:00:00.000Z",
                     *         "last_seen_at": "2026-01-31T12:00:00.000Z",
                     *         "is_virtual": true,
                     *         "usage": {
                     *           "requests": 128,
                     *           "input_tokens": 20480,
                     *           "cached_input_tokens": 0,
                     *           "cache_write_tokens": 0,
                     *           "output_tokens": 4096,
                     *           "cost_usd": 0.0147,
                     *           "estimated_cost_usd": 0,
                     *           "errors": 0,
                     *           "blocked": 1
                     *         },
                     *         "budget_spent_usd": 1,
                     *         "at_limit": true
                     *       },
                     *       "limits": {
                     *         "requests_today": null,
                     *         "requests_remaining": null,
                     *         "requests_per_minute": null,
                     *         "requests_per_day": null,
                     *         "tokens_today": null,
                     *         "tokens_remaining": null,
                     *         "monthly_cost_usd": 1,
                     *         "estimated_cost_usd": 0,
                     *         "monthly_budget_usd": null,
                     *         "daily_cost_usd": null,
                     *         "daily_budget_usd": null,
                     *         "weekly_cost_usd": null,
                     *         "weekly_budget_usd": null,
                     *         "blocked": true
                     *       },
                     *       "days": [
                     *         {
                     *           "requests": 128,
                     *           "input_tokens": 20480,
                     *           "cached_input_tokens": 0,
                     *           "cache_write_tokens": 0,
                     *           "output_tokens": 4096,
                     *           "cost_usd": 0.0147,
                     *           "estimated_cost_usd": 0,
                     *           "errors": 0,
                     *           "blocked": 1,
                     *           "date": "2026-01-31"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["SingleUserResponse"];
                };
            };
        };
    };
    blockAppUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the user, percent-encoded. */
                user: string;
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "user_id": "customer-4711",
                     *       "blocked": true
                     *     }
                     */
                    "application/json": components["schemas"]["UserBlockResponse"];
                };
            };
        };
    };
    unblockAppUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the user, percent-encoded. */
                user: string;
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "user_id": "customer-4711",
                     *       "blocked": true
                     *     }
                     */
                    "application/json": components["schemas"]["UserBlockResponse"];
                };
            };
        };
    };
    exportAppUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the user, percent-encoded. */
                user: string;
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example {"table":"app_users","row":{"id":"customer-4711"}} */
                    "application/x-ndjson": string;
                };
            };
        };
    };
    getNamedAppUser: {
        parameters: {
            query: {
                /** @description Id of the user, percent-encoded: a plus sign is `%2B`. */
                user_id: string;
                /** @description UTC month of the usage; the current one when absent. */
                month?: string;
            };
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "month": "2026-01",
                     *       "user": {
                     *         "id": "customer-4711",
                     *         "status": "active",
                     *         "attest_key_id": null,
                     *         "attest_registered": true,
                     *         "attest_counter": 1,
                     *         "created_at": "2026-01-31T12:00:00.000Z",
                     *         "last_seen_at": "2026-01-31T12:00:00.000Z",
                     *         "is_virtual": true,
                     *         "usage": {
                     *           "requests": 128,
                     *           "input_tokens": 20480,
                     *           "cached_input_tokens": 0,
                     *           "cache_write_tokens": 0,
                     *           "output_tokens": 4096,
                     *           "cost_usd": 0.0147,
                     *           "estimated_cost_usd": 0,
                     *           "errors": 0,
                     *           "blocked": 1
                     *         },
                     *         "budget_spent_usd": 1,
                     *         "at_limit": true
                     *       },
                     *       "limits": {
                     *         "requests_today": null,
                     *         "requests_remaining": null,
                     *         "requests_per_minute": null,
                     *         "requests_per_day": null,
                     *         "tokens_today": null,
                     *         "tokens_remaining": null,
                     *         "monthly_cost_usd": 1,
                     *         "estimated_cost_usd": 0,
                     *         "monthly_budget_usd": null,
                     *         "daily_cost_usd": null,
                     *         "daily_budget_usd": null,
                     *         "weekly_cost_usd": null,
                     *         "weekly_budget_usd": null,
                     *         "blocked": true
                     *       },
                     *       "days": [
                     *         {
                     *           "requests": 128,
                     *           "input_tokens": 20480,
                     *           "cached_input_tokens": 0,
                     *           "cache_write_tokens": 0,
                     *           "output_tokens": 4096,
                     *           "cost_usd": 0.0147,
                     *           "estimated_cost_usd": 0,
                     *           "errors": 0,
                     *           "blocked": 1,
                     *           "date": "2026-01-31"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["SingleUserResponse"];
                };
            };
        };
    };
    exportNamedAppUser: {
        parameters: {
            query: {
                /** @description Id of the user, percent-encoded: a plus sign is `%2B`. */
                user_id: string;
            };
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example {"table":"app_users","row":{"id":"customer-4711"}} */
                    "application/x-ndjson": string;
                };
            };
        };
    };
    blockNamedAppUser: {
        parameters: {
            query: {
                /** @description Id of the user, percent-encoded: a plus sign is `%2B`. */
                user_id: string;
            };
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "user_id": "customer-4711",
                     *       "blocked": true
                     *     }
                     */
                    "application/json": components["schemas"]["UserBlockResponse"];
                };
            };
        };
    };
    unblockNamedAppUser: {
        parameters: {
            query: {
                /** @description Id of the user, percent-encoded: a plus sign is `%2B`. */
                user_id: string;
            };
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "user_id": "customer-4711",
                     *       "blocked": true
                     *     }
                     */
                    "application/json": components["schemas"]["UserBlockResponse"];
                };
            };
        };
    };
    getMail: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "mail": {
                     *         "configured": true,
                     *         "address": "ada@example.com",
                     *         "events": [
                     *           "app_key.*",
                     *           "member.joined"
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["MailResponse"];
                };
            };
        };
    };
    updateMail: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "events": [
                 *         "app_key.*",
                 *         "member.joined"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["UpdateMailRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "mail": {
                     *         "configured": true,
                     *         "address": "ada@example.com",
                     *         "events": [
                     *           "app_key.*",
                     *           "member.joined"
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["MailResponse"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "webhooks": [
                     *         {
                     *           "id": "wh_0a1b2c3d4e5f6g7h8i9j",
                     *           "name": "Security",
                     *           "url": "https://hooks.example.com/gateway",
                     *           "events": [
                     *             "app_key.*"
                     *           ],
                     *           "apps": null,
                     *           "enabled": true,
                     *           "disabled_reason": null,
                     *           "previous_secret_until": null,
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "updated_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ],
                     *       "event_types": [
                     *         {
                     *           "type": "app_key.created",
                     *           "means": "An application key was created."
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookListResponse"];
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://hooks.example.com/gateway",
                 *       "name": "Security",
                 *       "events": [
                 *         "app_key.*"
                 *       ],
                 *       "apps": null
                 *     }
                 */
                "application/json": components["schemas"]["CreateWebhookRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "webhook": {
                     *         "id": "wh_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Security",
                     *         "url": "https://hooks.example.com/gateway",
                     *         "events": [
                     *           "app_key.*"
                     *         ],
                     *         "apps": null,
                     *         "enabled": true,
                     *         "disabled_reason": null,
                     *         "previous_secret_until": null,
                     *         "created_at": "2026-01-31T12:00:00.000Z",
                     *         "updated_at": "2026-01-31T12:00:00.000Z"
                     *       },
                     *       "secret": "whsec_bm90IGEgc2VjcmV0"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookSecretResponse"];
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "webhook": {
                     *         "id": "wh_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Security",
                     *         "url": "https://hooks.example.com/gateway",
                     *         "events": [
                     *           "app_key.*"
                     *         ],
                     *         "apps": null,
                     *         "enabled": true,
                     *         "disabled_reason": null,
                     *         "previous_secret_until": null,
                     *         "created_at": "2026-01-31T12:00:00.000Z",
                     *         "updated_at": "2026-01-31T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookResponse"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "webhook_id": "wh_0a1b2c3d4e5f6g7h8i9j"
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedWebhookResponse"];
                };
            };
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://hooks.example.com/gateway",
                 *       "name": "Security",
                 *       "events": [
                 *         "app_key.*"
                 *       ],
                 *       "apps": null
                 *     }
                 */
                "application/json": components["schemas"]["UpdateWebhookRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "webhook": {
                     *         "id": "wh_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Security",
                     *         "url": "https://hooks.example.com/gateway",
                     *         "events": [
                     *           "app_key.*"
                     *         ],
                     *         "apps": null,
                     *         "enabled": true,
                     *         "disabled_reason": null,
                     *         "previous_secret_until": null,
                     *         "created_at": "2026-01-31T12:00:00.000Z",
                     *         "updated_at": "2026-01-31T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookResponse"];
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "webhook": {
                     *         "id": "wh_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Security",
                     *         "url": "https://hooks.example.com/gateway",
                     *         "events": [
                     *           "app_key.*"
                     *         ],
                     *         "apps": null,
                     *         "enabled": true,
                     *         "disabled_reason": null,
                     *         "previous_secret_until": null,
                     *         "created_at": "2026-01-31T12:00:00.000Z",
                     *         "updated_at": "2026-01-31T12:00:00.000Z"
                     *       },
                     *       "secret": "whsec_bm90IGEgc2VjcmV0"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookSecretResponse"];
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "delivery": {
                     *         "id": 1,
                     *         "event_id": "evt_0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p",
                     *         "type": "app_key.created",
                     *         "status": "delivered",
                     *         "attempts": 1,
                     *         "response_status": null,
                     *         "duration_ms": 2310,
                     *         "created_at": "2026-01-31T12:00:00.000Z",
                     *         "next_attempt_at": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DeliveryResponse"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Maximum number of deliveries to return; 50 when absent. */
                limit?: number;
                /** @description Only deliveries with this status. */
                status?: "pending" | "delivered" | "failed" | "disabled";
                /** @description Only events with a smaller id. */
                before_id?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "limit": 1,
                     *       "next_before_id": null,
                     *       "deliveries": [
                     *         {
                     *           "id": 1,
                     *           "event_id": "evt_0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p",
                     *           "type": "app_key.created",
                     *           "status": "delivered",
                     *           "attempts": 1,
                     *           "response_status": null,
                     *           "duration_ms": 2310,
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "next_attempt_at": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["DeliveriesResponse"];
                };
            };
        };
    };
    getWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                /** @description Id of the delivery. */
                delivery: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "delivery": {
                     *         "id": 1,
                     *         "event_id": "evt_0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p",
                     *         "type": "app_key.created",
                     *         "status": "delivered",
                     *         "attempts": 1,
                     *         "response_status": null,
                     *         "duration_ms": 2310,
                     *         "created_at": "2026-01-31T12:00:00.000Z",
                     *         "next_attempt_at": null
                     *       },
                     *       "body": "{\"type\":\"app_key.created\",\"timestamp\":\"2026-11-28T12:00:00.000Z\",\"data\":{\"account\":\"account-4f0c2a\"}}"
                     *     }
                     */
                    "application/json": components["schemas"]["SentDeliveryResponse"];
                };
            };
        };
    };
    resendWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                /** @description Id of the delivery. */
                delivery: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "delivery": {
                     *         "id": 1,
                     *         "event_id": "evt_0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p",
                     *         "type": "app_key.created",
                     *         "status": "delivered",
                     *         "attempts": 1,
                     *         "response_status": null,
                     *         "duration_ms": 2310,
                     *         "created_at": "2026-01-31T12:00:00.000Z",
                     *         "next_attempt_at": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DeliveryResponse"];
                };
            };
        };
    };
    listAttention: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "kind": "provider_failing",
                     *           "id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21",
                     *           "name": "OpenAI",
                     *           "app_id": null,
                     *           "app_name": null,
                     *           "count": 1,
                     *           "amount_usd": null,
                     *           "budget_usd": null,
                     *           "window": null,
                     *           "since": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AttentionResponse"];
                };
            };
        };
    };
    listApps: {
        parameters: {
            query?: {
                /** @description UTC month of the usage; the current one when absent. */
                month?: string;
                /** @description Maximum number of applications to return; all when absent. */
                limit?: number;
                /** @description Only applications whose id comes after this one, by id. */
                after_id?: string;
                /** @description Only applications whose name, handle, id or bundle id contains this text. */
                query?: string;
                /** @description Only applications with this status. */
                status?: "active" | "disabled";
                /** @description `id` when absent; `errors` counts failures of providers and refusals. */
                sort?: "id" | "name" | "users" | "requests" | "errors" | "cost";
                /** @description When absent `asc` for ids and names, else `desc`. */
                order?: "asc" | "desc";
                /** @description How many applications to skip; 0 when absent. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "month": "2026-01",
                     *       "has_proxied_requests": true,
                     *       "usage": {
                     *         "requests": 128,
                     *         "input_tokens": 20480,
                     *         "cached_input_tokens": 0,
                     *         "cache_write_tokens": 0,
                     *         "output_tokens": 4096,
                     *         "cost_usd": 0.0147,
                     *         "estimated_cost_usd": 0,
                     *         "errors": 0,
                     *         "blocked": 1
                     *       },
                     *       "total": 1,
                     *       "apps": [
                     *         {
                     *           "id": "travel-journal-k3x9qa",
                     *           "name": "Travel journal",
                     *           "handle": null,
                     *           "status": "active",
                     *           "authentication_type": "device_app_attest",
                     *           "apple_bundle_id": "com.example.journal",
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "providers": [
                     *             "openai"
                     *           ],
                     *           "referenced_providers": [
                     *             "openai"
                     *           ],
                     *           "allowed_model_count": 1,
                     *           "monthly_budget_usd": null,
                     *           "users": {
                     *             "total": 1,
                     *             "blocked": 1
                     *           },
                     *           "usage": {
                     *             "requests": 128,
                     *             "input_tokens": 20480,
                     *             "cached_input_tokens": 0,
                     *             "cache_write_tokens": 0,
                     *             "output_tokens": 4096,
                     *             "cost_usd": 0.0147,
                     *             "estimated_cost_usd": 0,
                     *             "errors": 0,
                     *             "blocked": 1
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AppListResponse"];
                };
            };
        };
    };
    createApp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Travel journal",
                 *       "config": {
                 *         "authentication": {
                 *           "type": "api_key",
                 *           "end_user": {
                 *             "source": "header",
                 *             "header": "x-end-user-id"
                 *           }
                 *         },
                 *         "routing": {
                 *           "providers": {
                 *             "mode": "all"
                 *           },
                 *           "model_rewrites": {}
                 *         },
                 *         "limits": {
                 *           "per_user": {
                 *             "requests": {
                 *               "per_minute": 10,
                 *               "per_day": 300
                 *             },
                 *             "spending": {
                 *               "monthly_usd": 5
                 *             }
                 *           }
                 *         }
                 *       },
                 *       "status": "active"
                 *     }
                 */
                "application/json": components["schemas"]["CreateAppRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app": {
                     *         "id": "travel-journal-k3x9qa",
                     *         "name": "Travel journal",
                     *         "handle": null,
                     *         "config": {
                     *           "authentication": {
                     *             "type": "api_key",
                     *             "end_user": {
                     *               "source": "header",
                     *               "header": "x-end-user-id"
                     *             }
                     *           },
                     *           "routing": {
                     *             "providers": {
                     *               "mode": "all"
                     *             },
                     *             "model_rewrites": {}
                     *           },
                     *           "limits": {
                     *             "per_user": {
                     *               "requests": {
                     *                 "per_minute": 10,
                     *                 "per_day": 300
                     *               },
                     *               "spending": {
                     *                 "monthly_usd": 5
                     *               }
                     *             }
                     *           },
                     *           "endpoints": {},
                     *           "allowed_origins": [
                     *             "https://app.example.com"
                     *           ],
                     *           "streams": {
                     *             "resume_seconds": 1,
                     *             "max_bytes": 1
                     *           }
                     *         },
                     *         "status": "active",
                     *         "revision": 1,
                     *         "created_at": "2026-01-31T12:00:00.000Z",
                     *         "updated_at": "2026-01-31T12:00:00.000Z"
                     *       },
                     *       "resolved": null,
                     *       "config_error": null,
                     *       "api_key": {
                     *         "id": "key_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Server",
                     *         "key": "gw_Ab3dE6gH9kLmN0pQrStUvWxYz12345678",
                     *         "key_prefix": "gw_Ab3dE6gH9",
                     *         "created_at": "2026-01-31T12:00:00.000Z",
                     *         "expires_at": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedAppResponse"];
                };
            };
        };
    };
    getApp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app": {
                     *         "id": "travel-journal-k3x9qa",
                     *         "name": "Travel journal",
                     *         "handle": null,
                     *         "config": {
                     *           "authentication": {
                     *             "type": "api_key",
                     *             "end_user": {
                     *               "source": "header",
                     *               "header": "x-end-user-id"
                     *             }
                     *           },
                     *           "routing": {
                     *             "providers": {
                     *               "mode": "all"
                     *             },
                     *             "model_rewrites": {}
                     *           },
                     *           "limits": {
                     *             "per_user": {
                     *               "requests": {
                     *                 "per_minute": 10,
                     *                 "per_day": 300
                     *               },
                     *               "spending": {
                     *                 "monthly_usd": 5
                     *               }
                     *             }
                     *           },
                     *           "endpoints": {},
                     *           "allowed_origins": [
                     *             "https://app.example.com"
                     *           ],
                     *           "streams": {
                     *             "resume_seconds": 1,
                     *             "max_bytes": 1
                     *           }
                     *         },
                     *         "status": "active",
                     *         "revision": 1,
                     *         "created_at": "2026-01-31T12:00:00.000Z",
                     *         "updated_at": "2026-01-31T12:00:00.000Z"
                     *       },
                     *       "resolved": null,
                     *       "config_error": null
                     *     }
                     */
                    "application/json": components["schemas"]["AppResponse"];
                };
            };
        };
    };
    updateApp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Travel journal",
                 *       "config": {
                 *         "authentication": {
                 *           "type": "api_key",
                 *           "end_user": {
                 *             "source": "header",
                 *             "header": "x-end-user-id"
                 *           }
                 *         },
                 *         "routing": {
                 *           "providers": {
                 *             "mode": "all"
                 *           },
                 *           "model_rewrites": {}
                 *         },
                 *         "limits": {
                 *           "per_user": {
                 *             "requests": {
                 *               "per_minute": 10,
                 *               "per_day": 300
                 *             },
                 *             "spending": {
                 *               "monthly_usd": 5
                 *             }
                 *           }
                 *         }
                 *       },
                 *       "status": "active",
                 *       "revision": 1
                 *     }
                 */
                "application/json": components["schemas"]["ReplaceAppRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app": {
                     *         "id": "travel-journal-k3x9qa",
                     *         "name": "Travel journal",
                     *         "handle": null,
                     *         "config": {
                     *           "authentication": {
                     *             "type": "api_key",
                     *             "end_user": {
                     *               "source": "header",
                     *               "header": "x-end-user-id"
                     *             }
                     *           },
                     *           "routing": {
                     *             "providers": {
                     *               "mode": "all"
                     *             },
                     *             "model_rewrites": {}
                     *           },
                     *           "limits": {
                     *             "per_user": {
                     *               "requests": {
                     *                 "per_minute": 10,
                     *                 "per_day": 300
                     *               },
                     *               "spending": {
                     *                 "monthly_usd": 5
                     *               }
                     *             }
                     *           },
                     *           "endpoints": {},
                     *           "allowed_origins": [
                     *             "https://app.example.com"
                     *           ],
                     *           "streams": {
                     *             "resume_seconds": 1,
                     *             "max_bytes": 1
                     *           }
                     *         },
                     *         "status": "active",
                     *         "revision": 1,
                     *         "created_at": "2026-01-31T12:00:00.000Z",
                     *         "updated_at": "2026-01-31T12:00:00.000Z"
                     *       },
                     *       "resolved": null,
                     *       "config_error": null
                     *     }
                     */
                    "application/json": components["schemas"]["AppResponse"];
                };
            };
        };
    };
    deleteApp: {
        parameters: {
            query: {
                /** @description The id of the application, again. */
                confirm: string;
            };
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "removed_users": 1,
                     *       "usage_events_retained": true
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedAppResponse"];
                };
            };
        };
    };
    validateApp: {
        parameters: {
            query?: {
                /** @description Adds the configuration as it would be stored. */
                include?: "config";
            };
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Travel journal",
                 *       "config": {
                 *         "authentication": {
                 *           "type": "api_key",
                 *           "end_user": {
                 *             "source": "header",
                 *             "header": "x-end-user-id"
                 *           }
                 *         },
                 *         "routing": {
                 *           "providers": {
                 *             "mode": "all"
                 *           },
                 *           "model_rewrites": {}
                 *         },
                 *         "limits": {
                 *           "per_user": {
                 *             "requests": {
                 *               "per_minute": 10,
                 *               "per_day": 300
                 *             },
                 *             "spending": {
                 *               "monthly_usd": 5
                 *             }
                 *           }
                 *         }
                 *       },
                 *       "status": "active"
                 *     }
                 */
                "application/json": components["schemas"]["ValidateAppRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "valid": true,
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "config": {
                     *         "authentication": {
                     *           "type": "api_key",
                     *           "end_user": {
                     *             "source": "header",
                     *             "header": "x-end-user-id"
                     *           }
                     *         },
                     *         "routing": {
                     *           "providers": {
                     *             "mode": "all"
                     *           },
                     *           "model_rewrites": {}
                     *         },
                     *         "limits": {
                     *           "per_user": {
                     *             "requests": {
                     *               "per_minute": 10,
                     *               "per_day": 300
                     *             },
                     *             "spending": {
                     *               "monthly_usd": 5
                     *             }
                     *           }
                     *         },
                     *         "endpoints": {},
                     *         "allowed_origins": [
                     *           "https://app.example.com"
                     *         ],
                     *         "streams": {
                     *           "resume_seconds": 1,
                     *           "max_bytes": 1
                     *         }
                     *       },
                     *       "warnings": [
                     *         "key_attestation (observe) is looser than app_attest (enforce)."
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AppValidationResponse"];
                };
            };
        };
    };
    validateAppDraft: {
        parameters: {
            query?: {
                /** @description Adds the configuration as it would be stored. */
                include?: "config";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Travel journal",
                 *       "config": {
                 *         "authentication": {
                 *           "type": "api_key",
                 *           "end_user": {
                 *             "source": "header",
                 *             "header": "x-end-user-id"
                 *           }
                 *         },
                 *         "routing": {
                 *           "providers": {
                 *             "mode": "all"
                 *           },
                 *           "model_rewrites": {}
                 *         },
                 *         "limits": {
                 *           "per_user": {
                 *             "requests": {
                 *               "per_minute": 10,
                 *               "per_day": 300
                 *             },
                 *             "spending": {
                 *               "monthly_usd": 5
                 *             }
                 *           }
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ValidateAppDraftRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "valid": true,
                     *       "config": {
                     *         "authentication": {
                     *           "type": "api_key",
                     *           "end_user": {
                     *             "source": "header",
                     *             "header": "x-end-user-id"
                     *           }
                     *         },
                     *         "routing": {
                     *           "providers": {
                     *             "mode": "all"
                     *           },
                     *           "model_rewrites": {}
                     *         },
                     *         "limits": {
                     *           "per_user": {
                     *             "requests": {
                     *               "per_minute": 10,
                     *               "per_day": 300
                     *             },
                     *             "spending": {
                     *               "monthly_usd": 5
                     *             }
                     *           }
                     *         },
                     *         "endpoints": {},
                     *         "allowed_origins": [
                     *           "https://app.example.com"
                     *         ],
                     *         "streams": {
                     *           "resume_seconds": 1,
                     *           "max_bytes": 1
                     *         }
                     *       },
                     *       "warnings": [
                     *         "key_attestation (observe) is looser than app_attest (enforce)."
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AppDraftValidationResponse"];
                };
            };
        };
    };
    checkApp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "appId": "travel-journal-k3x9qa",
                     *       "validation": {
                     *         "valid": true,
                     *         "app_id": "travel-journal-k3x9qa",
                     *         "config": {
                     *           "authentication": {
                     *             "type": "api_key",
                     *             "end_user": {
                     *               "source": "header",
                     *               "header": "x-end-user-id"
                     *             }
                     *           },
                     *           "routing": {
                     *             "providers": {
                     *               "mode": "all"
                     *             },
                     *             "model_rewrites": {}
                     *           },
                     *           "limits": {
                     *             "per_user": {
                     *               "requests": {
                     *                 "per_minute": 10,
                     *                 "per_day": 300
                     *               },
                     *               "spending": {
                     *                 "monthly_usd": 5
                     *               }
                     *             }
                     *           },
                     *           "endpoints": {},
                     *           "allowed_origins": [
                     *             "https://app.example.com"
                     *           ],
                     *           "streams": {
                     *             "resume_seconds": 1,
                     *             "max_bytes": 1
                     *           }
                     *         },
                     *         "warnings": [
                     *           "key_attestation (observe) is looser than app_attest (enforce)."
                     *         ]
                     *       },
                     *       "status": "active",
                     *       "providers": [
                     *         {
                     *           "id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21",
                     *           "slug": "openai",
                     *           "status": "active"
                     *         }
                     *       ],
                     *       "endpoints": [
                     *         {
                     *           "slug": "openai",
                     *           "ready": true,
                     *           "problem": null
                     *         }
                     *       ],
                     *       "ready": true,
                     *       "limitations": [
                     *         "No provider was called."
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AppCheckResponse"];
                };
            };
        };
    };
    getAppSnippet: {
        parameters: {
            query?: {
                /** @description `curl` when absent. `swift` and `kotlin` are for mobile applications. */
                language?: "curl" | "swift" | "kotlin";
                /** @description Slug of the provider to call. Not with `endpoint`. */
                provider?: string;
                /** @description Slug of the named endpoint to call. Without both: the first provider that can be called. */
                endpoint?: string;
            };
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "language": "shell",
                     *       "snippet": "curl -sS …",
                     *       "notes": [
                     *         "APP_KEY is a key of the application."
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AppSnippetResponse"];
                };
            };
        };
    };
    getProviderUsage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "from": "2026-01-25",
                     *       "to": "2026-01-31",
                     *       "providers": [
                     *         {
                     *           "id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21",
                     *           "slug": "openai",
                     *           "requests": 128,
                     *           "errors": 2,
                     *           "lastSuccessDay": "2026-01-31",
                     *           "appCount": 1,
                     *           "apps": [
                     *             {
                     *               "id": "travel-journal-k3x9qa",
                     *               "name": "Travel journal"
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ProviderUseResponse"];
                };
            };
        };
    };
    getOperation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the operation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "op:0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d",
                     *       "kind": "app.key.add",
                     *       "state": "completed",
                     *       "denied": true,
                     *       "createdAt": "2026-01-31T12:00:00.000Z",
                     *       "expiresAt": "2026-01-31T12:00:00.000Z",
                     *       "result": {
                     *         "appId": "travel-journal-k3x9qa",
                     *         "api_key": {
                     *           "id": "key_0a1b2c3d4e5f6g7h8i9j",
                     *           "name": "Backend",
                     *           "key_prefix": "gw_Ab3dE6gH9",
                     *           "created_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       },
                     *       "failure": {
                     *         "code": "slug_taken",
                     *         "message": "slug: \"openai\" is already used by another provider; choose another slug."
                     *       },
                     *       "reveal_url": "https://gateway.example.com/reveal/op%3A0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d"
                     *     }
                     */
                    "application/json": components["schemas"]["ChangeOperationResponse"];
                };
            };
        };
    };
    revealOperation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the operation. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "op:0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d",
                     *       "kind": "app.key.add",
                     *       "result": {
                     *         "appId": "travel-journal-k3x9qa",
                     *         "api_key": {
                     *           "id": "key_0a1b2c3d4e5f6g7h8i9j",
                     *           "name": "Backend",
                     *           "key_prefix": "gw_Ab3dE6gH9",
                     *           "created_at": "2026-01-31T12:00:00.000Z",
                     *           "key": "gw_Ab3dE6gH9kLmN0pQrStUvWxYz12345678"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["RevealedOperationResponse"];
                };
            };
        };
    };
    openCliLogin: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY",
                 *       "client": {
                 *         "label": "Ada’s laptop",
                 *         "os": "linux"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["OpenLoginRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "op:0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d",
                     *       "kind": "login",
                     *       "state": "pending",
                     *       "url": "https://gateway.example.com/cli/approve/op%3A0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d#e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3",
                     *       "userCode": "ABCD-EFGH",
                     *       "expiresAt": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["LoginResponse"];
                };
            };
        };
    };
    redeemCliLogin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `op:` and the SHA-256 of the token, hexadecimal. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "redeemCode": "Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY"
                 *     }
                 */
                "application/json": components["schemas"]["RedeemLoginRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "credential": {
                     *         "token": "gw_mgmt_0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8s9t0u1v2w3x"
                     *       },
                     *       "account": {
                     *         "id": "org_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Analytical Engines",
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "claimed": true,
                     *         "expiresAt": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["RedeemedLoginResponse"];
                };
            };
        };
    };
    bootstrapCliAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY"
                 *     }
                 */
                "application/json": components["schemas"]["BootstrapRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "op:0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d",
                     *       "kind": "login",
                     *       "state": "completed",
                     *       "denied": true,
                     *       "expiresAt": "2026-01-31T12:00:00.000Z",
                     *       "deployment": {
                     *         "id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21",
                     *         "mode": "self_hosted",
                     *         "apiUrl": "https://gateway.example.com",
                     *         "consoleOrigin": "https://gateway.example.com"
                     *       },
                     *       "result": {
                     *         "accountId": "org_0a1b2c3d4e5f6g7h8i9j"
                     *       },
                     *       "failure": {
                     *         "code": "slug_taken",
                     *         "message": "slug: \"openai\" is already used by another provider; choose another slug."
                     *       },
                     *       "account": {
                     *         "id": "org_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Analytical Engines",
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "claimed": true,
                     *         "expiresAt": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OperationResponse"];
                };
            };
        };
    };
    createCliOperation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "kind": "provider.add",
                 *       "payload": {
                 *         "type": "openai",
                 *         "name": "OpenAI"
                 *       },
                 *       "token": "Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY",
                 *       "browser": true
                 *     }
                 */
                "application/json": components["schemas"]["CreateOperationRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "op:0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d",
                     *       "kind": "login",
                     *       "state": "completed",
                     *       "denied": true,
                     *       "expiresAt": "2026-01-31T12:00:00.000Z",
                     *       "deployment": {
                     *         "id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21",
                     *         "mode": "self_hosted",
                     *         "apiUrl": "https://gateway.example.com",
                     *         "consoleOrigin": "https://gateway.example.com"
                     *       },
                     *       "result": {
                     *         "accountId": "org_0a1b2c3d4e5f6g7h8i9j"
                     *       },
                     *       "failure": {
                     *         "code": "slug_taken",
                     *         "message": "slug: \"openai\" is already used by another provider; choose another slug."
                     *       },
                     *       "account": {
                     *         "id": "org_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Analytical Engines",
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "claimed": true,
                     *         "expiresAt": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OperationResponse"];
                };
            };
        };
    };
    pollCliOperation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `op:` and the SHA-256 of the token, hexadecimal. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "op:0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d",
                     *       "kind": "login",
                     *       "state": "completed",
                     *       "denied": true,
                     *       "expiresAt": "2026-01-31T12:00:00.000Z",
                     *       "deployment": {
                     *         "id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21",
                     *         "mode": "self_hosted",
                     *         "apiUrl": "https://gateway.example.com",
                     *         "consoleOrigin": "https://gateway.example.com"
                     *       },
                     *       "result": {
                     *         "accountId": "org_0a1b2c3d4e5f6g7h8i9j"
                     *       },
                     *       "failure": {
                     *         "code": "slug_taken",
                     *         "message": "slug: \"openai\" is already used by another provider; choose another slug."
                     *       },
                     *       "account": {
                     *         "id": "org_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Analytical Engines",
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "claimed": true,
                     *         "expiresAt": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OperationResponse"];
                };
            };
        };
    };
    cliBrowserLookup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "userCode": "ABCD-EFGH"
                 *     }
                 */
                "application/json": components["schemas"]["UserCodeRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "found": true,
                     *       "kind": "bootstrap",
                     *       "expiresAt": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["LookupResponse"];
                };
            };
        };
    };
    cliBrowserDetails: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the operation, from the link or from `lookup`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "submissionToken": "e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3"
                 *     }
                 */
                "application/json": components["schemas"]["SubmissionRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "kind": "login",
                     *       "payload": {},
                     *       "account": null,
                     *       "viewer": {
                     *         "name": "Travel journal",
                     *         "email": "ada@example.com"
                     *       },
                     *       "blockedBy": null,
                     *       "googleEnabled": true,
                     *       "expiresAt": "2026-01-31T12:00:00.000Z",
                     *       "userCode": "ABCD-EFGH",
                     *       "client": {
                     *         "label": "Ada’s laptop",
                     *         "os": "linux",
                     *         "ip": "198.51.100.7",
                     *         "requestedAt": "2026-01-31T12:00:00.000Z"
                     *       },
                     *       "hasLoopbackRedirect": true,
                     *       "organizations": [
                     *         {
                     *           "id": "org_0a1b2c3d4e5f6g7h8i9j",
                     *           "name": "Analytical Engines",
                     *           "role": "owner"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["HandoffDetailsResponse"];
                };
            };
        };
    };
    cliBrowserSubmit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the operation, from the link or from `lookup`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "submissionToken": "e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3",
                 *       "approve": true,
                 *       "organizationId": "org_0a1b2c3d4e5f6g7h8i9j"
                 *     }
                 */
                "application/json": components["schemas"]["SubmitHandoffRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "state": "completed",
                     *       "message": "Your terminal is logged in. Return to it.",
                     *       "continueTo": "cli"
                     *     }
                     */
                    "application/json": components["schemas"]["SubmittedHandoffResponse"];
                };
            };
        };
    };
    cliBrowserDeny: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the operation, from the link or from `lookup`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "submissionToken": "e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3"
                 *     }
                 */
                "application/json": components["schemas"]["SubmissionRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "state": "denied",
                     *       "message": "Declined. Nothing was changed."
                     *     }
                     */
                    "application/json": components["schemas"]["DeniedHandoffResponse"];
                };
            };
        };
    };
    cliBrowserRegister: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the operation, from the link or from `lookup`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "submissionToken": "e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3",
                 *       "email": "ada@example.com",
                 *       "password": "correct horse battery staple",
                 *       "name": "Ada Lovelace"
                 *     }
                 */
                "application/json": components["schemas"]["RegisterForHandoffRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "token": "Zk3vQ8sT1yXw5RbN7mLc2HdJ4gFp6Ua9eKo0iVtBxMzPqWnY",
                     *       "user": {
                     *         "id": "user_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Ada Lovelace",
                     *         "email": "ada@example.com",
                     *         "emailVerified": true,
                     *         "image": null,
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "updatedAt": "2026-01-31T12:00:00.000Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SessionBegunResponse"];
                };
            };
        };
    };
    cliBrowserGoogle: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the operation, from the link or from `lookup`. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "submissionToken": "e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3"
                 *     }
                 */
                "application/json": components["schemas"]["SubmissionRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "url": "https://accounts.google.com/o/oauth2/v2/auth?client_id=client-1",
                     *       "redirect": true
                     *     }
                     */
                    "application/json": components["schemas"]["SocialSignInResponse"];
                };
            };
        };
    };
    getCliCapabilities: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "protocolVersion": 1,
                     *       "serverVersion": "0.1.0",
                     *       "deployment": {
                     *         "id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21",
                     *         "mode": "self_hosted",
                     *         "apiUrl": "https://gateway.example.com",
                     *         "consoleOrigin": "https://gateway.example.com"
                     *       },
                     *       "consoleOrigin": "https://id.example.com/keys",
                     *       "providers": [
                     *         {
                     *           "type": "openai",
                     *           "name": "OpenAI",
                     *           "baseUrl": "https://api.openai.com/",
                     *           "apiStyles": [
                     *             "responses"
                     *           ],
                     *           "endpointStyles": [
                     *             "responses"
                     *           ]
                     *         }
                     *       ],
                     *       "providerGateways": [
                     *         {
                     *           "type": "cf_aig",
                     *           "name": "Vercel AI Gateway"
                     *         }
                     *       ],
                     *       "features": {
                     *         "browserLogin": true
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["CliCapabilitiesResponse"];
                };
            };
        };
    };
    getCliAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deployment": {
                     *         "id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21",
                     *         "mode": "self_hosted",
                     *         "apiUrl": "https://gateway.example.com",
                     *         "consoleOrigin": "https://gateway.example.com"
                     *       },
                     *       "account": {
                     *         "id": "org_0a1b2c3d4e5f6g7h8i9j",
                     *         "name": "Analytical Engines",
                     *         "createdAt": "2026-01-31T12:00:00.000Z",
                     *         "claimed": true,
                     *         "expiresAt": null
                     *       },
                     *       "billing": {
                     *         "access": {
                     *           "state": "self_hosted"
                     *         }
                     *       },
                     *       "usage": null
                     *     }
                     */
                    "application/json": components["schemas"]["CliAccountResponse"];
                };
            };
        };
    };
    getCliStream: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example data: {"part":1} */
                    "text/event-stream": string;
                };
            };
        };
    };
    getCliUsage: {
        parameters: {
            query?: {
                /** @description UTC month of the usage; the current one when absent. */
                month?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "accountId": "0a1b2c3d4e5f",
                     *       "month": "2026-01",
                     *       "totals": {
                     *         "requests": 128,
                     *         "input_tokens": 20480,
                     *         "cached_input_tokens": 0,
                     *         "cache_write_tokens": 0,
                     *         "output_tokens": 4096,
                     *         "cost_usd": 0.0147,
                     *         "estimated_cost_usd": 0,
                     *         "errors": 0,
                     *         "blocked": 1
                     *       },
                     *       "apps": [
                     *         {
                     *           "requests": 128,
                     *           "input_tokens": 20480,
                     *           "cached_input_tokens": 0,
                     *           "cache_write_tokens": 0,
                     *           "output_tokens": 4096,
                     *           "cost_usd": 0.0147,
                     *           "estimated_cost_usd": 0,
                     *           "errors": 0,
                     *           "blocked": 1,
                     *           "appId": "travel-journal-k3x9qa",
                     *           "deleted": true,
                     *           "firstRecord": "2026-01-03"
                     *         }
                     *       ],
                     *       "coverage": {
                     *         "scope": "retained_account_usage",
                     *         "firstRecord": "2026-01-03"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["CliUsageResponse"];
                };
            };
        };
    };
    getOauthConsentDetails: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the authorization, from the address of the consent page. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "submissionToken": "e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3"
                 *     }
                 */
                "application/json": components["schemas"]["ConsentRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "oauth-0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d",
                     *       "state": "pending",
                     *       "client": {
                     *         "id": "https://client.example.com/oauth/client.json",
                     *         "name": "A chat client",
                     *         "domain": "client.example.com",
                     *         "source": "cimd"
                     *       },
                     *       "redirectHost": "127.0.0.1:49152",
                     *       "requestedGrant": "read",
                     *       "expiresAt": "2026-01-31T12:00:00.000Z",
                     *       "viewer": {
                     *         "name": "Travel journal",
                     *         "email": "ada@example.com"
                     *       },
                     *       "accounts": [
                     *         {
                     *           "id": "org_0a1b2c3d4e5f6g7h8i9j",
                     *           "name": "Analytical Engines",
                     *           "role": "owner"
                     *         }
                     *       ],
                     *       "blockedBy": null,
                     *       "guestAvailable": true,
                     *       "guestExpiresAt": null,
                     *       "googleEnabled": true,
                     *       "registrationOpen": true
                     *     }
                     */
                    "application/json": components["schemas"]["ConsentDetailsResponse"];
                };
            };
        };
    };
    allowOauthConsent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the authorization, from the address of the consent page. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "submissionToken": "e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3",
                 *       "organizationId": "org_0a1b2c3d4e5f6g7h8i9j",
                 *       "grant": "read"
                 *     }
                 */
                "application/json": components["schemas"]["AllowConsentRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "redirect": "http://127.0.0.1:49152/callback?code=0a1b2c3d&state=7&iss=https%3A%2F%2Fgateway.example.com"
                     *     }
                     */
                    "application/json": components["schemas"]["ConsentRedirectResponse"];
                };
            };
        };
    };
    continueOauthWithoutAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the authorization, from the address of the consent page. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "submissionToken": "e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3"
                 *     }
                 */
                "application/json": components["schemas"]["ConsentRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "redirect": "http://127.0.0.1:49152/callback?code=0a1b2c3d&state=7&iss=https%3A%2F%2Fgateway.example.com"
                     *     }
                     */
                    "application/json": components["schemas"]["ConsentRedirectResponse"];
                };
            };
        };
    };
    denyOauthConsent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the authorization, from the address of the consent page. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "submissionToken": "e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3e0d1c2b3"
                 *     }
                 */
                "application/json": components["schemas"]["ConsentRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "redirect": "http://127.0.0.1:49152/callback?code=0a1b2c3d&state=7&iss=https%3A%2F%2Fgateway.example.com"
                     *     }
                     */
                    "application/json": components["schemas"]["ConsentRedirectResponse"];
                };
            };
        };
    };
    listPlayIntegrityCredentials: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "credentials": [
                     *         {
                     *           "kind": "service_account",
                     *           "hint": "integrity@example.iam.gserviceaccount.com",
                     *           "updated_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["PlayCredentialsResponse"];
                };
            };
        };
    };
    putPlayIntegrityCredentials: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "service_account": {
                 *         "type": "service_account",
                 *         "private_key_id": "0a1b2c3d4e5f",
                 *         "private_key": "-----BEGIN PRIVATE KEY-----…",
                 *         "client_email": "integrity@example.iam.gserviceaccount.com"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["PutPlayCredentialsRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "credentials": [
                     *         {
                     *           "kind": "service_account",
                     *           "hint": "integrity@example.iam.gserviceaccount.com",
                     *           "updated_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["PlayCredentialsResponse"];
                };
            };
        };
    };
    deletePlayIntegrityCredentials: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "deleted": true
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedPlayCredentialsResponse"];
                };
            };
        };
    };
    listAppAuthEvents: {
        parameters: {
            query?: {
                /** @description Maximum number of events to return; 50 when absent. */
                limit?: number;
                /** @description Only events with this outcome: `ok`, `would_reject` or an error code. */
                outcome?: string;
                /** @description Only attempts of this kind. */
                event?: "register" | "token_exchange";
                /** @description Only events of this user id. */
                user?: string;
                /** @description Only events with a smaller id. */
                before_id?: number;
            };
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "limit": 1,
                     *       "next_before_id": null,
                     *       "events": [
                     *         {
                     *           "id": 1,
                     *           "user_id": "customer-4711",
                     *           "event": "register",
                     *           "auth_method": null,
                     *           "outcome": "ok",
                     *           "reason": null,
                     *           "app_version": "1.4.0",
                     *           "latency_ms": 840,
                     *           "claim_delay_ms": null,
                     *           "facts": {},
                     *           "created_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AuthEventsResponse"];
                };
            };
        };
    };
    getAppAuthEventSummary: {
        parameters: {
            query?: {
                /** @description UTC days, today included; 30 when absent. */
                days?: number;
            };
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "app_id": "travel-journal-k3x9qa",
                     *       "days": 1,
                     *       "from": "2026-01-31",
                     *       "to": "2026-01-31",
                     *       "daily": [
                     *         {
                     *           "date": "2026-01-31",
                     *           "event": "register",
                     *           "outcome": "ok",
                     *           "reason": null,
                     *           "count": 1
                     *         }
                     *       ],
                     *       "usage_failures": [
                     *         {
                     *           "date": "2026-01-31",
                     *           "status": "ok",
                     *           "count": 1
                     *         }
                     *       ],
                     *       "token_exchange": {
                     *         "total": 1,
                     *         "ok": 1,
                     *         "success_rate": null
                     *       },
                     *       "claim_delay": {
                     *         "count": 1,
                     *         "avg_ms": null,
                     *         "p50_ms": null,
                     *         "p95_ms": null
                     *       },
                     *       "pending_users": 1,
                     *       "proofs": [
                     *         {
                     *           "proof": "key_attestation",
                     *           "event": "register",
                     *           "ok": 120,
                     *           "would_reject": 3,
                     *           "refused": 0
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AuthEventSummaryResponse"];
                };
            };
        };
    };
    getCurrentUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "user_id": "customer-4711",
                     *       "limits": {
                     *         "requests_today": null,
                     *         "requests_remaining": null,
                     *         "requests_per_minute": null,
                     *         "requests_per_day": null,
                     *         "tokens_today": null,
                     *         "tokens_remaining": null,
                     *         "monthly_cost_usd": 1,
                     *         "estimated_cost_usd": 0,
                     *         "monthly_budget_usd": null,
                     *         "daily_cost_usd": null,
                     *         "daily_budget_usd": null,
                     *         "weekly_cost_usd": null,
                     *         "weekly_budget_usd": null,
                     *         "blocked": true
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["CurrentUserResponse"];
                };
            };
        };
    };
    previewAppEnforcement: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["EnforcementPreviewRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "attempts": 1,
                     *       "would_reject": 1,
                     *       "users": 1,
                     *       "by": [
                     *         {
                     *           "proof": "key_attestation",
                     *           "reason": "os_patch_too_old",
                     *           "day": "2026-01-31",
                     *           "app_version": "1.4.0",
                     *           "attempts": 3
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["EnforcementPreviewResponse"];
                };
            };
        };
    };
    createAppAttestChallenge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "challenge": "a1b2c3d4-e5f6-4711-8899-aabbccddeeff",
                     *       "expires_in": 300
                     *     }
                     */
                    "application/json": components["schemas"]["ChallengeResponse"];
                };
            };
        };
    };
    registerAppAttestKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "issuer_token": "eyJhbGciOiJSUzI1NiJ9.e30.c2ln",
                 *       "key_id": "wG2Yh0pTz5m1sQe7",
                 *       "attestation": "o2NmbXRvYXBwbGUtYXBwYXR0ZXN0",
                 *       "challenge": "a1b2c3d4-e5f6-4711-8899-aabbccddeeff"
                 *     }
                 */
                "application/json": components["schemas"]["RegisterUserDeviceRequest"] | components["schemas"]["RegisterInstallRequest"] | components["schemas"]["RegisterAndroidUserDeviceRequest"] | components["schemas"]["RegisterAndroidInstallRequest"] | components["schemas"]["RegisterPlayUserDeviceRequest"] | components["schemas"]["RegisterPlayInstallRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "user_id": "customer-4711",
                     *       "proof": "none"
                     *     }
                     */
                    "application/json": components["schemas"]["RegistrationResponse"];
                };
            };
        };
    };
    exchangeGatewayToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "issuer_token": "eyJhbGciOiJSUzI1NiJ9.e30.c2ln",
                 *       "key_id": "wG2Yh0pTz5m1sQe7",
                 *       "assertion": "omlzaWduYXR1cmVYRzBF",
                 *       "challenge": "a1b2c3d4-e5f6-4711-8899-aabbccddeeff"
                 *     }
                 */
                "application/json": components["schemas"]["ExchangeUserDeviceRequest"] | components["schemas"]["ExchangeInstallRequest"] | components["schemas"]["ExchangeSignedUserDeviceRequest"] | components["schemas"]["ExchangeSignedInstallRequest"] | components["schemas"]["ExchangeApiKeyRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "access_token": "eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
                     *       "expires_in": 3600,
                     *       "proof": "none"
                     *     }
                     */
                    "application/json": components["schemas"]["GatewayTokenResponse"];
                };
            };
        };
    };
    createFrameworkClientChallenge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
                /** @description Slug of a provider of the Messages API. */
                provider: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "client_id": "travel-journal-k3x9qa",
                 *       "key_id": "AxCwU6+xIRSh7toFoLz9KfoJMMM85YMSqcRQej4d8uw="
                 *     }
                 */
                "application/json": components["schemas"]["FrameworkChallengeRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "challenge": "a1b2c3d4-e5f6-4711-8899-aabbccddeeff",
                     *       "expires_in": 300
                     *     }
                     */
                    "application/json": components["schemas"]["FrameworkChallengeResponse"];
                };
            };
        };
    };
    registerFrameworkClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
                /** @description Slug of a provider of the Messages API. */
                provider: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "client_id": "travel-journal-k3x9qa",
                 *       "key_id": "AxCwU6+xIRSh7toFoLz9KfoJMMM85YMSqcRQej4d8uw=",
                 *       "attestation_object": "o2NmbXRvYXBwbGUtYXBwYXR0ZXN0"
                 *     }
                 */
                "application/json": components["schemas"]["FrameworkRegisterRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "access_token": "eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
                     *       "expires_in": 3600,
                     *       "next_challenge": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
                     *       "next_challenge_expires_in": 300
                     *     }
                     */
                    "application/json": components["schemas"]["FrameworkTokenResponse"];
                };
            };
        };
    };
    exchangeFrameworkClientToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
                /** @description Slug of a provider of the Messages API. */
                provider: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "grant_type": "urn:anthropic:params:oauth:grant-type:app-attest",
                 *       "client_id": "travel-journal-k3x9qa",
                 *       "key_id": "AxCwU6+xIRSh7toFoLz9KfoJMMM85YMSqcRQej4d8uw=",
                 *       "assertion": "omlzaWduYXR1cmVYRzBF"
                 *     }
                 */
                "application/x-www-form-urlencoded": components["schemas"]["FrameworkTokenRequest"];
                /**
                 * @example {
                 *       "grant_type": "urn:anthropic:params:oauth:grant-type:app-attest",
                 *       "client_id": "travel-journal-k3x9qa",
                 *       "key_id": "AxCwU6+xIRSh7toFoLz9KfoJMMM85YMSqcRQej4d8uw=",
                 *       "assertion": "omlzaWduYXR1cmVYRzBF"
                 *     }
                 */
                "application/json": components["schemas"]["FrameworkTokenRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "access_token": "eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
                     *       "expires_in": 3600,
                     *       "next_challenge": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
                     *       "next_challenge_expires_in": 300
                     *     }
                     */
                    "application/json": components["schemas"]["FrameworkTokenResponse"];
                };
            };
        };
    };
    proxyProviderRequest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Path below the provider’s base URL, such as `v1/chat/completions`. */
                path: string;
                /** @description Slug of the provider instance. */
                provider: string;
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        /** @description A JSON object, or a form for transcriptions, as the provider documents it. At most 20 MiB. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "model": "gpt-4.1-mini",
                 *       "messages": [
                 *         {
                 *           "role": "user",
                 *           "content": "Good morning."
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: never;
    };
    callNamedEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Key of the endpoint in the application’s configuration. */
                slug: string;
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        /** @description By the endpoint’s style: a JSON object or a form. At most 20 MiB. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "input": "Good morning."
                 *     }
                 */
                "application/json": {
                    /** @description Overwritten by the endpoint’s. */
                    model?: unknown;
                    /** @description Style `responses`: the prompt. */
                    input?: unknown;
                    /** @description Answer as a stream of events. */
                    stream?: boolean;
                    /**
                     * Format: binary
                     * @description Style `transcription`: the audio.
                     */
                    file?: string;
                } & {
                    [key: string]: unknown;
                };
                /**
                 * @example {
                 *       "input": "Good morning."
                 *     }
                 */
                "multipart/form-data": {
                    /** @description Overwritten by the endpoint’s. */
                    model?: unknown;
                    /** @description Style `responses`: the prompt. */
                    input?: unknown;
                    /** @description Answer as a stream of events. */
                    stream?: boolean;
                    /**
                     * Format: binary
                     * @description Style `transcription`: the audio.
                     */
                    file?: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: never;
    };
    listUsableModels: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "object": "list",
                     *       "data": [
                     *         {
                     *           "id": "gpt-4.1-mini",
                     *           "object": "model",
                     *           "owned_by": "OpenAI",
                     *           "provider": "openai"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ModelsResponse"];
                };
            };
        };
    };
    readStream: {
        parameters: {
            query?: {
                offset?: number;
            };
            header?: never;
            path: {
                /** @description The value of `X-Gateway-Stream` of the answer. */
                stream: string;
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rest of the answer, with its content type. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example data: [DONE] */
                    "*/*": string;
                };
            };
        };
    };
    stopStream: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The value of `X-Gateway-Stream` of the answer. */
                stream: string;
                /** @description Id of the application. */
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The call is stopped, or had already ended. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "service": "gateway",
                     *       "vault": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["HealthResponse"];
                };
            };
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ready": true,
                     *       "reason": null,
                     *       "database": "ok",
                     *       "vault": "ok",
                     *       "journal": "ok",
                     *       "configChanges": "connected",
                     *       "redis": "ok",
                     *       "instances": 1,
                     *       "clock": "ok",
                     *       "limits": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["ReadinessResponse"];
                };
            };
        };
    };
    getDeployment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": "1.0.0",
                     *       "node": "24.21.0",
                     *       "readiness": {
                     *         "ready": true,
                     *         "reason": null,
                     *         "database": "ok",
                     *         "vault": "ok",
                     *         "journal": "ok",
                     *         "configChanges": "connected",
                     *         "redis": "ok",
                     *         "instances": 1,
                     *         "clock": "ok",
                     *         "limits": "ok"
                     *       },
                     *       "history": {
                     *         "since": "2026-01-31T12:00:00.000Z",
                     *         "slotSeconds": 1,
                     *         "parts": [
                     *           {
                     *             "part": "database",
                     *             "failing": [
                     *               null
                     *             ]
                     *           }
                     *         ]
                     *       },
                     *       "instances": [
                     *         {
                     *           "id": "i-0a1b2c3d",
                     *           "current": true,
                     *           "host": "gateway-1",
                     *           "pid": 4711,
                     *           "version": "1.0.0",
                     *           "startedAt": "2026-01-31T12:00:00.000Z",
                     *           "redisAnswers": true,
                     *           "clockAheadMs": 3
                     *         }
                     *       ],
                     *       "database": "embedded",
                     *       "pendingEvents": 0,
                     *       "maintenance": {
                     *         "startedAt": "2026-01-31T12:00:00.000Z",
                     *         "endedAt": "2026-01-31T12:00:00.000Z",
                     *         "outcome": "done"
                     *       },
                     *       "prices": {
                     *         "source": "built_in",
                     *         "date": null
                     *       },
                     *       "settings": [
                     *         {
                     *           "name": "PUBLIC_URL",
                     *           "value": "https://gateway.example.com"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["DeploymentResponse"];
                };
            };
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Prometheus text format, version 0.0.4. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example # TYPE gateway_requests_total counter */
                    "text/plain": string;
                };
            };
        };
    };
    onAppCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "app.created"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "app.created";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onAppDeleted: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "app.deleted"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "app.deleted";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onAppReplaced: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "app.replaced"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "app.replaced";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onAppKeyCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "app_key.created"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "app_key.created";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onAppKeyRevealed: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "app_key.revealed"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "app_key.revealed";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onAppKeyRevoked: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "app_key.revoked"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "app_key.revoked";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onBudgetExhausted: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": "travel-journal-k3x9qa",
                 *         "scope": "user",
                 *         "group": null,
                 *         "id": "customer-4711",
                 *         "window": "month",
                 *         "period_start": "2026-01-01T00:00:00.000Z",
                 *         "threshold": 1,
                 *         "budget_usd": 5,
                 *         "spent_usd": 4.75,
                 *         "estimated_usd": 0.25
                 *       },
                 *       "type": "budget.exhausted"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "budget.exhausted";
                } & components["schemas"]["BudgetEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onBudgetThresholdReached: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": "travel-journal-k3x9qa",
                 *         "scope": "user",
                 *         "group": null,
                 *         "id": "customer-4711",
                 *         "window": "month",
                 *         "period_start": "2026-01-01T00:00:00.000Z",
                 *         "threshold": 1,
                 *         "budget_usd": 5,
                 *         "spent_usd": 4.75,
                 *         "estimated_usd": 0.25
                 *       },
                 *       "type": "budget.threshold_reached"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "budget.threshold_reached";
                } & components["schemas"]["BudgetEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCliOperationDenied: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "cli_operation.denied"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "cli_operation.denied";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onConnectionCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "connection.created"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "connection.created";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onConnectionDenied: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "connection.denied"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "connection.denied";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onConnectionRevoked: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "connection.revoked"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "connection.revoked";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onDeviceRevoked: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": "travel-journal-k3x9qa",
                 *         "user": "customer-4711",
                 *         "device": "wG2Yh0pTz5m1sQe7",
                 *         "reason": "device_limit"
                 *       },
                 *       "type": "device.revoked"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "device.revoked";
                } & components["schemas"]["DeviceEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onInvitationAccepted: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "invitation.accepted"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "invitation.accepted";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onInvitationCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "invitation.created"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "invitation.created";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onInvitationRevoked: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "invitation.revoked"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "invitation.revoked";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onLimitExhausted: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": "travel-journal-k3x9qa",
                 *         "scope": "user",
                 *         "id": "customer-4711",
                 *         "limit": "requests",
                 *         "window": "day",
                 *         "period_start": "2026-01-31T00:00:00.000Z"
                 *       },
                 *       "type": "limit.exhausted"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "limit.exhausted";
                } & components["schemas"]["LimitEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onManagementKeyCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "management_key.created"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "management_key.created";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onManagementKeyRevoked: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "management_key.revoked"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "management_key.revoked";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onMailChanged: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "mail.changed"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "mail.changed";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onMemberJoined: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "member.joined"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "member.joined";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onMemberRemoved: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "member.removed"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "member.removed";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onMemberRoleChanged: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "member.role_changed"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "member.role_changed";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onOrganizationClaimed: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "organization.claimed"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "organization.claimed";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onOrganizationCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "organization.created"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "organization.created";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onOrganizationRenamed: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "organization.renamed"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "organization.renamed";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onPasskeyCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "passkey.created"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "passkey.created";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onPasskeyRemoved: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "passkey.removed"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "passkey.removed";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onPasswordChanged: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "password.changed"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "password.changed";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onPasswordReset: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "password.reset"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "password.reset";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onPasswordResetCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "password_reset.created"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "password_reset.created";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onPlayCredentialsDeleted: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "play_credentials.deleted"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "play_credentials.deleted";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onPlayCredentialsReplaced: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "play_credentials.replaced"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "play_credentials.replaced";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onProviderCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "provider.created"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "provider.created";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onProviderDeleted: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "provider.deleted"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "provider.deleted";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onProviderFailing: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "provider": {
                 *           "id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21",
                 *           "slug": "openai",
                 *           "name": "OpenAI"
                 *         },
                 *         "reason": "errors",
                 *         "calls": 24,
                 *         "errors": 13
                 *       },
                 *       "type": "provider.failing"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "provider.failing";
                } & components["schemas"]["ProviderEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onProviderRecovered: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "provider": {
                 *           "id": "6f1c0d0e-7a3b-4c57-9c1d-2f6f0a9b8e21",
                 *           "slug": "openai",
                 *           "name": "OpenAI"
                 *         },
                 *         "reason": "errors",
                 *         "calls": 24,
                 *         "errors": 13
                 *       },
                 *       "type": "provider.recovered"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "provider.recovered";
                } & components["schemas"]["ProviderEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onProviderUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "provider.updated"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "provider.updated";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onProviderGatewayCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "provider_gateway.created"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "provider_gateway.created";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onProviderGatewayDeleted: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "provider_gateway.deleted"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "provider_gateway.deleted";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onProviderGatewayRenamed: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "provider_gateway.renamed"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "provider_gateway.renamed";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onProviderGatewayRotated: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "provider_gateway.rotated"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "provider_gateway.rotated";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onRecoveryCodeUsed: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "recovery_code.used"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "recovery_code.used";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onRecoveryCodesReplaced: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "recovery_codes.replaced"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "recovery_codes.replaced";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSessionEnded: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "session.ended"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "session.ended";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSessionOpened: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "session.opened"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "session.opened";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSignInRefusalsRising: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": "travel-journal-k3x9qa",
                 *         "period_start": "2026-01-31T12:00:00.000Z",
                 *         "count": 63,
                 *         "usual": 4.5
                 *       },
                 *       "type": "sign_in.refusals_rising"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "sign_in.refusals_rising";
                } & components["schemas"]["RisingEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onUsageEstimatesSettled: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "usage.estimates_settled"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "usage.estimates_settled";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onUsageRepriced: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "usage.repriced"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "usage.repriced";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onUsageUnresolvedRising: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": "travel-journal-k3x9qa",
                 *         "period_start": "2026-01-31T12:00:00.000Z",
                 *         "count": 63,
                 *         "usual": 4.5
                 *       },
                 *       "type": "usage.unresolved_rising"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "usage.unresolved_rising";
                } & components["schemas"]["RisingEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onUserBlocked: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "user.blocked"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "user.blocked";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onUserUnblocked: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "user.unblocked"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "user.unblocked";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onWebhookCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "webhook.created"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "webhook.created";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onWebhookDeleted: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "webhook.deleted"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "webhook.deleted";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onWebhookRotated: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "webhook.rotated"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "webhook.rotated";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onWebhookUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "app": null,
                 *         "actor": {
                 *           "id": "user_0a1b2c3d4e5f6g7h8i9j",
                 *           "kind": "human",
                 *           "source": "web"
                 *         },
                 *         "target": {
                 *           "type": "app_key",
                 *           "id": "key_0a1b2c3d4e5f6g7h8i9j"
                 *         },
                 *         "details": {
                 *           "name": "Deployment"
                 *         },
                 *         "changes": null
                 *       },
                 *       "type": "webhook.updated"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "webhook.updated";
                } & components["schemas"]["AuditedEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onWebhookTest: {
        parameters: {
            query?: never;
            header: {
                /** @description Of the event; the same at each attempt. */
                "webhook-id": components["parameters"]["WebhookId"];
                /** @description Unix time of the attempt, in seconds. */
                "webhook-timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description `v1,` and a signature; several are separated by spaces. */
                "webhook-signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timestamp": "2026-01-31T12:00:00.000Z",
                 *       "data": {
                 *         "account": "account-4f0c2a",
                 *         "webhook": "wh_0a1b2c3d4e5f6g7h8i9j"
                 *       },
                 *       "type": "webhook.test"
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    type?: "webhook.test";
                } & components["schemas"]["TestEvent"];
            };
        };
        responses: {
            /** @description The webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is delivered. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later; a redirect is not followed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
