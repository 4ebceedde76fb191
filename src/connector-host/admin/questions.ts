import { isNarrower, permissionIn } from "../permissions/index.js";
import type { PermissionRules, ToolPermission } from "../registration/index.js";
import type { ManagedApproval } from "./management-view.js";
import { quoteText } from "./quote-text.js";

/** What an agent might want to do by itself, and only a person may. */
export type RiskyAction =
  | {
      readonly kind: "permission";
      readonly connectorKey: string;
      readonly nativeName: string;
      readonly permission: ToolPermission | undefined;
      readonly present: PermissionRules;
    }
  | {
      readonly kind: "new_tools";
      readonly connectorKey: string;
      readonly permission: ToolPermission;
      readonly present: PermissionRules;
    }
  | { readonly kind: "enable"; readonly connectorKey: string; readonly enabled: boolean; readonly isEnabled: boolean }
  | {
      readonly kind: "activate";
      readonly slug: string;
      readonly state: "active" | "paused";
      readonly isPaused: boolean;
    }
  | { readonly kind: "approval"; readonly approval: ManagedApproval }
  | {
      readonly kind: "test_call";
      readonly connectorKey: string;
      readonly nativeName: string;
      readonly argumentsText: string;
    }
  | { readonly kind: "link" };

/** Characters of arguments that are shown. */
const SHOWN_ARGUMENTS = 4_096;

/**
 * What a person has to say yes to before it is done, in the host's own words; `undefined` for what takes away and for what changes
 * nothing. What holds already is something when it is decided: a later decision about all other tools does not reach it. Pure.
 */
export function questionOf(action: RiskyAction): string | undefined {
  switch (action.kind) {
    case "permission": {
      const { connectorKey, nativeName, permission, present } = action;
      const now = permissionIn(present, nativeName);
      const tool = `the tool ${quoteText(nativeName)} of ${quoteText(connectorKey)}`;
      if (now === permission && now !== "off" && !Object.hasOwn(present.permissions, nativeName)) {
        return `Let ${tool} stay at ${now}, whatever is decided about its other tools.`;
      }
      if (now === "allow" || (permission !== undefined && !isNarrower(now, permission))) return undefined;
      const next = permission ?? "what its definition says";
      return `Change the permission of ${tool} from ${now} to ${next}.`;
    }
    case "new_tools": {
      const { connectorKey, permission, present } = action;
      if (permission === "off" || isNarrower(permission, present.newTools)) return undefined;
      if (permission === present.newTools) {
        return `Let all other tools of ${quoteText(connectorKey)} stay at ${permission}, whatever its definition says.`;
      }
      return `Change the permission of all other tools of ${quoteText(connectorKey)} from ${present.newTools} to ${permission}.`;
    }
    case "enable":
      if (!action.enabled || action.isEnabled) return undefined;
      return `Switch the connector ${quoteText(action.connectorKey)} on.`;
    case "activate":
      if (action.state === "paused" || !action.isPaused) return undefined;
      return `Let the registered server ${quoteText(action.slug)} run, as it is configured now.`;
    case "approval": {
      // Everything that others wrote is in quotes already.
      const { agentSessionId, argumentsText, connectorKey, omittedBytes, toolName, workspaceId } = action.approval;
      const left = omittedBytes === 0 ? "" : ` and ${String(omittedBytes)} bytes more`;
      const who = `the agent session ${agentSessionId} of the workspace ${workspaceId}`;
      return `Approve one call by ${who} of the tool ${toolName} of ${quoteText(connectorKey)} with the arguments ${argumentsText}${left}.`;
    }
    case "test_call":
      return testText(action.connectorKey, action.nativeName, action.argumentsText);
    case "link":
      return "Make a link that lets whoever opens it first administer this host in a browser.";
  }
}

function testText(connectorKey: string, nativeName: string, argumentsText: string): string {
  const shown = quoteText(argumentsText, SHOWN_ARGUMENTS);
  return `Call once, whatever agents may do with it, the tool ${quoteText(nativeName)} of ${quoteText(connectorKey)} with the arguments ${shown}.`;
}
